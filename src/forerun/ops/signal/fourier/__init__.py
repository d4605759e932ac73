"""Fourier transforms: `lines`, the operations; `complex` and `real`, the functions; `frequencies`."""

from .complex import fft as fft
from .complex import fft2 as fft2
from .complex import fftn as fftn
from .complex import ifft as ifft
from .complex import ifft2 as ifft2
from .complex import ifftn as ifftn
from .frequencies import fftfreq as fftfreq
from .frequencies import fftshift as fftshift
from .frequencies import ifftshift as ifftshift
from .frequencies import rfftfreq as rfftfreq
from .real import hfft as hfft
from .real import ihfft as ihfft
from .real import irfft as irfft
from .real import irfft2 as irfft2
from .real import irfftn as irfftn
from .real import rfft as rfft
from .real import rfft2 as rfft2
from .real import rfftn as rfftn
