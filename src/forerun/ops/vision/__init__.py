"""Images and detections in them.

`decode`, `resize`, `rotate`; `image_arrays`, then `image_tensors`, `image_crops`, `image_flips` and `image_colours`;
`boxes`, `anchors`, `detection`, `regions`.
"""
