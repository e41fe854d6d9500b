"""Writes the workbook that the tests read, with openpyxl.

    pip install openpyxl
    python make_workbook.py ../data

The first sheet has a title, names, a row of units, and 10·exp(−t/7) + 1 with a blank cell, a text of several styles, a formula whose
value nobody stored, and an empty row; the second has other numbers.
"""
import math
import sys

import openpyxl
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont

book = openpyxl.Workbook()
sheet = book.active
sheet.title = "Decays"
sheet["A1"] = "Measured & exported <by hand>"
sheet.append(["Time, s", CellRichText("Con", TextBlock(InlineFont(b=True), "trol")), None, "Treated\tB"])
sheet.append(["s", "µV", None, "µV"])
for t in range(12):
    control = 10 * math.exp(-t / 7) + 1
    sheet.append([t, control, None, None if t == 5 else 2 * control])
sheet["D8"] = "#N/A"
sheet["B20"], sheet["A20"], sheet["D20"] = 1.5, 30, 2.5
other = book.create_sheet("Other & more")
for t in range(3):
    other.append([t, 2.0 * t])
book.save(sys.argv[1] + "/decays.xlsx")
