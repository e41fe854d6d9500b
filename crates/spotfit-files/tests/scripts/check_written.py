"""Reads a file that H5Writer wrote with h5py and prints its table and text as JSON.

    python check_written.py FILE
"""

import json
import sys

import h5py


def main():
    with h5py.File(sys.argv[1], "r") as file:
        table = file["locs"][...]
        print(
            json.dumps(
                {
                    "names": sorted(file),
                    "members": [[name, table.dtype[name].str] for name in table.dtype.names],
                    # 17 digits are enough for every double; NaN has a spelling of its own.
                    "rows": [[repr(float(value)) for value in row] for row in table.tolist()],
                    "metadata": file["metadata"].asstr()[()] if "metadata" in file else None,
                }
            )
        )


main()
