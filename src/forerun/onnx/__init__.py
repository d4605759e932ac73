"""Networks as ONNX files, for other runtimes; and ONNX files of other libraries as Gluon blocks.

Files are of opset 17, which ONNX Runtime, TensorRT, OpenVINO and others read. Needs the package `onnx`.
"""

from .._display.namespaces import dir_of
from .reading import OnnxBlock as OnnxBlock
from .reading import import_model as import_model
from .writing import export as export

__all__ = ["OnnxBlock", "export", "import_model"]
__dir__ = dir_of(__name__)
