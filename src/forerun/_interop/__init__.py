"""Other libraries: `dlpack` and `lending` for their arrays; `import_hooks`, which register forerun's arrays with
`einops`, `dask` and `array_api_compat` when these are imported; `mxnet_modules`, forerun's modules under MXNet's names.
"""
