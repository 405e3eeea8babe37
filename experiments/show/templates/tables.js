// Tables that are sorted by the column whose heading is pressed; cells without a number come last.

function sortable(table) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    const button = element("button", null, cell.textContent);
    button.type = "button";
    cell.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = cell.getAttribute("aria-sort") !== "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", up ? "ascending" : "descending");
      const sign = up ? 1 : -1;
      const keyed = [...body.rows].map((row) => [keyOf(row.cells[column]), row]);
      keyed.sort(([a], [b]) => (a === null) - (b === null) || sign * compare(a, b));
      body.replaceChildren(...keyed.map(([, row]) => row));
    });
  });
}

function keyOf(cell) {
  if (!("value" in cell.dataset)) return cell.textContent;
  return cell.dataset.value === "" ? null : Number(cell.dataset.value);
}

function compare(a, b) {
  return typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
}
