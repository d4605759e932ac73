"""Loaders of batches of images, of files of records or lists, with the usual transforms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ....data import batchify
from ....data.loader import DataLoader
from ....data.vision import transforms as of_images
from ....data.vision.files import ImageListDataset, ImageRecordDataset
from . import transforms
from .transforms.bbox.both import Both

if TYPE_CHECKING:
    import os

    from .....typing import Array, DTypeLike
    from ....block.block import Block

    Path = str | os.PathLike[str]


__all__ = ["ImageDataLoader", "ImageBboxDataLoader", "create_image_augment", "create_bbox_augment"]

_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet's colours in 0 to 1
Colours = bool | Sequence[float] | None


def _colours(brightness: float, contrast: float, saturation: float, hue: float, noise: float, grey: float) -> list[Any]:
    """Return random changes of colours, those that are asked for."""
    steps: list[Any] = []
    if brightness or contrast or saturation or hue:
        steps.append(of_images.RandomColorJitter(brightness, contrast, saturation, hue))
    if noise:
        steps.append(of_images.RandomLighting(noise))
    return [*steps, of_images.RandomGray(grey)] if grey else steps


def _tensors(mean: Colours, std: Colours, dtype: DTypeLike) -> list[Any]:
    """Return channels first, from 0 to 1, less a mean and over a deviation, in a dtype."""
    mean, std = (_MEAN if mean is True else mean), (_STD if std is True else std)
    steps: list[Any] = [of_images.ToTensor()]
    given = [x is not None and x is not False for x in (mean, std)]
    if any(given):
        steps.append(of_images.Normalize(mean if given[0] else 0.0, std if given[1] else 1.0))  # type: ignore[arg-type]
    return steps if numpy.dtype(dtype) == "float32" else [*steps, of_images.Cast(dtype)]


def create_image_augment(
    data_shape: Sequence[int], resize: int = 0, rand_crop: bool = False, rand_resize: bool = False,
    rand_mirror: bool = False, mean: Colours = None, std: Colours = None, brightness: float = 0, contrast: float = 0,
    saturation: float = 0, hue: float = 0, pca_noise: float = 0, rand_gray: float = 0, inter_method: int = 2,
    dtype: DTypeLike = "float32",
) -> Block:  # fmt: skip
    """Return the usual transforms of an image (height, width, channels) to a float array.

    Parameters
    ----------
    data_shape : (int, int, int)
        The shape of the result: 1 or 3 channels, height, width.
    resize : int, optional
        The length of the shorter side before the crop; 0 for images as they are.
    rand_crop : bool, optional
        Whether the crop is at a random place; otherwise it is in the middle.
    rand_resize : bool, optional
        Whether the crop has a random area and random proportions.
    rand_mirror : bool, optional
        Whether left and right are exchanged half the time.
    mean, std : bool or sequence of float, optional
        The mean that is subtracted from each channel, and the deviation by which it is divided, of values from 0 to 1;
        True for those of ImageNet.
    brightness, contrast, saturation, hue : float, optional
        The random changes of `RandomColorJitter`.
    pca_noise : float, optional
        The deviation of `RandomLighting`.
    rand_gray : float, optional
        The probability of `RandomGray`.
    inter_method : int, optional
        The filter, as for `image.imresize`.
    dtype : dtype, optional
        The dtype of the result.

    Returns
    -------
    HybridCompose
        The transform.

    Raises
    ------
    ValueError
        For another data_shape, or both crops.

    Examples
    --------
    >>> from forerun import np
    >>> create_image_augment((3, 4, 6), resize=8)(np.ones((10, 12, 3), dtype="uint8")).shape
    (3, 4, 6)
    """
    size = _size("create_image_augment", data_shape)
    if rand_resize and rand_crop:
        raise ValueError("create_image_augment: rand_resize and rand_crop must not be given together, got both")
    crop = of_images.RandomResizedCrop if rand_resize else of_images.RandomCrop if rand_crop else of_images.CenterCrop
    steps: list[Any] = [of_images.Resize(resize, True, inter_method)] if resize else []
    steps.append(crop(size, interpolation=inter_method))
    if rand_mirror:
        steps.append(of_images.RandomFlipLeftRight(0.5))
    steps += _colours(brightness, contrast, saturation, hue, pca_noise, rand_gray)
    return of_images.HybridCompose(steps + _tensors(mean, std, dtype))


def create_bbox_augment(
    data_shape: Sequence[int], rand_crop: float = 0, rand_pad: float = 0, rand_gray: float = 0,
    rand_mirror: bool = False, mean: Colours = None, std: Colours = None, brightness: float = 0, contrast: float = 0,
    saturation: float = 0, pca_noise: float = 0, hue: float = 0, inter_method: int = 2, max_aspect_ratio: float = 2,
    area_range: Sequence[float] = (0.3, 3.0), max_attempts: int = 50,
    pad_val: float | Sequence[float] = (127, 127, 127), dtype: DTypeLike = "float32",
) -> Block:  # fmt: skip
    """Return the usual transforms of an image (height, width, channels) and its boxes to a float array, and boxes in
    it.

    Parameters
    ----------
    data_shape : (int, int, int)
        The shape of the result: 1 or 3 channels, height, width.
    rand_crop : float, optional
        The probability of a crop by `ImageBboxRandomCropWithConstraints`.
    rand_pad : float, optional
        The probability of a larger image by `ImageBboxRandomExpand`.
    rand_gray : float, optional
        The probability of `RandomGray`.
    rand_mirror : bool, optional
        Whether left and right are exchanged half the time.
    mean, std : bool or sequence of float, optional
        The mean that is subtracted from each channel, and the deviation by which it is divided, of values from 0 to 1;
        True for those of ImageNet.
    brightness, contrast, saturation, hue : float, optional
        The random changes of `RandomColorJitter`.
    pca_noise : float, optional
        The deviation of `RandomLighting`.
    inter_method : int, optional
        The filter, as for `image.imresize`.
    max_aspect_ratio : float, optional
        The largest ratio of the sides of a crop.
    area_range : (float, float), optional
        The smallest area of a crop, and the largest area of a larger image, as multiples of the image's area.
    max_attempts : int, optional
        How often a crop is tried.
    pad_val : float or sequence of float, optional
        The value that fills a larger image, or one for each channel.
    dtype : dtype, optional
        The dtype of the result.

    Returns
    -------
    Compose
        The transform of an image and its boxes.

    Raises
    ------
    ValueError
        For another data_shape.

    Examples
    --------
    >>> from forerun import np
    >>> both = create_bbox_augment((3, 4, 6))
    >>> x, boxes = both(np.ones((8, 12, 3), dtype="uint8"), np.array([[0.0, 2.0, 6.0, 8.0, 1.0]]))
    >>> x.shape, boxes.tolist()
    ((3, 4, 6), [[0.0, 1.0, 3.0, 4.0, 1.0]])
    """
    size = _size("create_bbox_augment", data_shape)
    steps: list[Any] = []
    if rand_crop:
        least, most = (min(area, 1.0) ** 0.5 for area in area_range)
        steps.append(transforms.ImageBboxRandomCropWithConstraints(
            rand_crop, least, most, max_aspect_ratio, max_trial=max_attempts))  # fmt: skip
    if rand_mirror:
        steps.append(transforms.ImageBboxRandomFlipLeftRight(0.5))
    if rand_pad:
        steps.append(transforms.ImageBboxRandomExpand(rand_pad, max(area_range[1], 1.0) ** 0.5, pad_val))
    steps.append(transforms.ImageBboxResize(*size, inter_method))
    steps += _colours(brightness, contrast, saturation, hue, pca_noise, rand_gray)
    return of_images.Compose(steps + _tensors(mean, std, dtype))


def _size(op: str, data_shape: Sequence[int]) -> tuple[int, int]:
    """Width and height; ValueError unless the shape is (1 or 3, height, width)."""
    if len(data_shape) != 3 or data_shape[0] not in (1, 3) or min(data_shape) < 1:
        raise ValueError(f"{op}: data_shape must be (1 or 3, height, width), got {tuple(data_shape)}")
    return data_shape[2], data_shape[1]


class _Loader:
    """The base of both loaders: a data set of images, and a `DataLoader` of it."""

    def __init__(
        self, batch_size: int, data_shape: Sequence[int], path_imgrec: Path | None = None,
        path_imglist: Path | None = None, path_root: Path = ".", part_index: int = 0, num_parts: int = 1,
        aug_list: Any = None, imglist: Any = None,
        dtype: DTypeLike = "float32", shuffle: bool = False, sampler: Any = None, last_batch: str | None = None,
        batch_sampler: Any = None, batchify_fn: Callable[[list[Any]], Any] | None = None, num_workers: int = 0,
        pin_memory: bool = False, pin_device_id: int = 0, prefetch: int | None = None, thread_pool: bool = False,
        timeout: float = 120, try_nopython: bool | None = None, **augmenting: Any,
    ) -> None:  # fmt: skip
        name = type(self).__name__
        _size(name, data_shape)
        if aug_list is not None and augmenting:
            raise ValueError(f"{name}: there must be no settings beside aug_list, got {augmenting}")
        given = [x for x in (path_imgrec, path_imglist, imglist) if x is not None]
        if len(given) != 1:
            raise ValueError(f"{name}: one of path_imgrec, path_imglist and imglist must be given, got {len(given)}")
        flag = int(data_shape[0] == 3)
        found: Any = (
            ImageRecordDataset(path_imgrec, flag) if path_imgrec is not None
            else ImageListDataset(path_root, given[0], flag)
        )  # fmt: skip
        found = found.shard(num_parts, part_index) if num_parts > 1 else found
        if isinstance(aug_list, (list, tuple)):
            aug_list = of_images.Compose(aug_list)
        examples = self._transformed(found, aug_list, data_shape, {"dtype": dtype, **augmenting})
        self._loader = DataLoader(
            examples, batch_size, shuffle, sampler, last_batch, batch_sampler, batchify_fn or self._batchify(),
            num_workers, pin_memory, pin_device_id, prefetch, thread_pool, timeout, try_nopython,
        )  # fmt: skip

    def _transformed(self, found: Any, augment: Any, shape: Sequence[int], settings: dict[str, Any]) -> Any:
        return found.transform_first(augment if augment is not None else create_image_augment(shape, **settings))

    def _batchify(self) -> Any:
        return None

    def __iter__(self) -> Iterator[Any]:
        return iter(self._loader)

    def __len__(self) -> int:
        return len(self._loader)


class ImageDataLoader(_Loader):
    """Batches of images and labels, from a file of records or a list: a `DataLoader` with the usual transforms.

    Parameters
    ----------
    batch_size : int
        Examples of a batch.
    data_shape : (int, int, int)
        The shape of images in a batch: 1 or 3 channels, height, width.
    path_imgrec : path, optional
        A file of records, as for `ImageRecordDataset`.
    path_imglist : path, optional
        A file in `path_root` that lists images, as for `ImageListDataset`.
    path_root : path, optional
        The folder that paths of images are relative to.
    part_index, num_parts : int, optional
        The number of a part, and the number of parts that the data set is divided into; the loader has that part alone.
    aug_list : callable or list of callable, optional
        The transform, or several; by default that of `create_image_augment` with the settings that are not the
        loader's.
    imglist : list, optional
        A list of images with labels, as for `ImageListDataset`.
    dtype : dtype, optional
        The dtype of images in a batch.
    shuffle, sampler, last_batch, batch_sampler, batchify_fn : optional
        As for `DataLoader`.
    num_workers, pin_memory, pin_device_id, prefetch, thread_pool, timeout, try_nopython : optional
        As for `DataLoader`.
    **augmenting : optional
        Settings of `create_image_augment`.

    Raises
    ------
    ValueError
        Unless just one of `path_imgrec`, `path_imglist` and `imglist` is given; for settings of transforms beside
        `aug_list`, and another data_shape.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Image.new("RGB", (9, 9), "red").save(f"{folder}/x.png")
    ...     loader = ImageDataLoader(2, (3, 4, 4), imglist=[[1, "x.png"], [0, "x.png"]], path_root=folder)
    ...     [(x.shape, y.tolist()) for x, y in loader]
    [((2, 3, 4, 4), [[1.0], [0.0]])]
    """


class _Boxes(Both):
    """A label of an image as boxes: rows of xmin, ymin, xmax, ymax in pixels, the class, and further columns."""

    def __init__(self, normalized: bool) -> None:
        super().__init__()
        self._normalized = normalized

    def both(self, x: Array | numpy.ndarray, boxes: numpy.ndarray) -> tuple[Any, Any]:
        """Return the image, and the boxes of its label."""
        label = boxes.astype("float32")
        if label.ndim == 1:
            if label.size < 2 or not (2 <= label[0] <= label.size and label[1] >= 5):
                raise ValueError(f"ImageBboxDataLoader: labels must begin with two widths, got {label[:8].tolist()}")
            start, width = int(label[0]), int(label[1])
            if (n := label.size - start) % width:
                raise ValueError(f"ImageBboxDataLoader: labels must be rows of {width}, got {n} numbers")
            label = label[start:].reshape(-1, width)
        found = numpy.concatenate([label[:, 1:5], label[:, :1], label[:, 5:]], 1)
        if self._normalized:
            found[:, :4] *= numpy.array([x.shape[1], x.shape[0]] * 2, "float32")
        return x, found[(found[:, :2] < found[:, 2:4]).all(1)]


class ImageBboxDataLoader(_Loader):
    """Batches of images and their boxes: arrays (batch, most boxes, 5 or more), in which missing boxes are rows of -1.

    Labels begin with the widths of a head and of each object and the rest of the head; then follow, for each object,
    its class, xmin, ymin, xmax, ymax and further numbers. Rows of a batch are xmin, ymin, xmax, ymax in pixels of the
    transformed image, the class, and the further numbers.

    Parameters
    ----------
    batch_size : int
        Examples of a batch.
    data_shape : (int, int, int)
        The shape of images in a batch: 1 or 3 channels, height, width.
    path_imgrec : path, optional
        A file of records, as for `ImageRecordDataset`.
    path_imglist : path, optional
        A file in `path_root` that lists images, as for `ImageListDataset`.
    path_root : path, optional
        The folder that paths of images are relative to.
    part_index, num_parts : int, optional
        The number of a part, and the number of parts that the data set is divided into; the loader has that part alone.
    aug_list : callable or list of callable, optional
        The transform, or several; by default that of `create_bbox_augment` with the settings that are not the loader's.
    imglist : list, optional
        A list of images with labels, as for `ImageListDataset`.
    coord_normalized : bool, optional
        Whether labels have parts of the width and height of the image; otherwise they have pixels.
    **settings : optional
        The other settings of `ImageDataLoader`, and those of `create_bbox_augment`.

    Raises
    ------
    ValueError
        Unless just one of `path_imgrec`, `path_imglist` and `imglist` is given; for settings of transforms beside
        `aug_list`, and another data_shape; when a batch is made, for labels of another form.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Image.new("RGB", (8, 8), "red").save(f"{folder}/x.png")
    ...     label = [2, 5, 7, 0.0, 0.0, 0.5, 1.0]  # two widths; class 7 in the left half
    ...     loader = ImageBboxDataLoader(1, (3, 4, 4), imglist=[[*label, "x.png"]], path_root=folder)
    ...     [(x.shape, boxes.tolist()) for x, boxes in loader]
    [((1, 3, 4, 4), [[[0.0, 0.0, 2.0, 4.0, 7.0]]])]
    """

    def __init__(
        self, batch_size: int, data_shape: Sequence[int], path_imgrec: Path | None = None,
        path_imglist: Path | None = None, path_root: Path = ".", part_index: int = 0, num_parts: int = 1,
        aug_list: Sequence[Any] | None = None, imglist: Any = None,
        coord_normalized: bool = True, **settings: Any,
    ) -> None:  # fmt: skip
        self._normalized = coord_normalized
        super().__init__(
            batch_size, data_shape, path_imgrec, path_imglist, path_root, part_index, num_parts, aug_list, imglist,
            **settings,
        )  # fmt: skip

    def _transformed(self, found: Any, augment: Any, shape: Sequence[int], settings: dict[str, Any]) -> Any:
        augment = augment if augment is not None else create_bbox_augment(shape, **settings)
        return found.transform(of_images.Compose([_Boxes(self._normalized), augment]))

    def _batchify(self) -> Any:
        return batchify.Group(batchify.Stack(), batchify.Pad(-1))
