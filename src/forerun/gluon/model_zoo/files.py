"""Files of parameters: in a folder, given by name, or of a repository on the Hugging Face Hub; and their checksums."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

__all__ = ["Pretrained", "Root", "file_of", "folder"]

Root = str | os.PathLike[str] | None
"""A folder of files of parameters."""
Pretrained = bool | str | os.PathLike[str]
"""Whether, or from which file or repository, parameters come."""

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+(@[\w./-]+)?")
_ENDINGS = (".params", ".safetensors")
_OF_HUB = "model.safetensors"


def folder(root: Root = None) -> Path:
    """Return the folder of files of parameters: `root`, else models in $MXNET_HOME, else ~/.mxnet/models."""
    if root is None:
        root = Path(os.environ.get("MXNET_HOME", "~/.mxnet"), "models")
    return Path(root).expanduser()


def file_of(name: str, pretrained: Pretrained, root: Root) -> Path:
    """Return the file of the parameters of a network.

    Parameters
    ----------
    name : str
        The network.
    pretrained : bool, str or path
        True for a file of the folder, whose name is that of the network, or begins with it and "-". Otherwise a file,
        or a repository of the Hub, such as "timm/resnet18.tv_in1k", with "@" and a revision or without.
    root : path, optional
        The folder.

    Raises
    ------
    FileNotFoundError
        If there is no such file, or the Hub does not give it.
    ImportError
        For a repository, without `huggingface_hub`.
    ValueError
        If the checksum of a file is not the one that its name says.
    """
    if isinstance(pretrained, bool):
        return _checked(_in_folder(name, folder(root)))
    path = Path(pretrained).expanduser()
    if path.exists():
        return _checked(path)
    if isinstance(pretrained, str) and _REPOSITORY.fullmatch(pretrained) and not pretrained.endswith(_ENDINGS):
        return _checked(_from_hub(name, *pretrained.partition("@")[::2]))
    raise FileNotFoundError(
        f"{name}: pretrained must be True, a file, or a repository such as 'timm/resnet18.tv_in1k', got "
        f"{os.fspath(pretrained)!r}, which does not exist"
    )


def _in_folder(name: str, place: Path) -> Path:
    files = [path for end in _ENDINGS for path in sorted([*place.glob(name + end), *place.glob(f"{name}-*{end}")])]
    if not files:
        raise FileNotFoundError(
            f"{name}: pretrained=True must find {name}.params or {name}.safetensors in {place}, got no such file. No "
            f"weights are served: put a file of MXNet's, of torchvision's or your own there (or give root=), give "
            f"pretrained= its path, or a repository such as 'timm/resnet18.tv_in1k'; or call {name}() and "
            "net.load_parameters(file)"
        )
    return files[0]


def _from_hub(name: str, repository: str, revision: str) -> Path:
    try:
        from huggingface_hub import hf_hub_download
    except ImportError:
        raise ImportError(
            f"{name}: pretrained={repository!r} is a repository, which needs huggingface_hub: pip install "
            "huggingface_hub, or give the path of a file"
        ) from None
    try:
        return Path(hf_hub_download(repository, _OF_HUB, revision=revision or None))
    except (OSError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise FileNotFoundError(
            f"{name}: {_OF_HUB} of {repository} could not be fetched: {reason}. Without a network, fetch "
            f"https://huggingface.co/{repository}/resolve/{revision or 'main'}/{_OF_HUB} elsewhere, and give "
            "pretrained= the path of the file"
        ) from error


def _checked(path: Path) -> Path:
    """Return the file, if the digits of a checksum in its name are those of its SHA-256.

    torchvision's files have the first eight in their names, and those that the Hub's cache keeps are named by all.
    """
    wanted = re.fullmatch(r".+-([0-9a-f]{8,64})\.safetensors|([0-9a-f]{64})", path.resolve().name)
    if wanted is None:
        return path
    digits = wanted[1] or wanted[2]
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if not found.startswith(digits):
        raise ValueError(f"{path.name}: SHA-256 must begin with {digits}, as the name says, got {found}")
    return path
