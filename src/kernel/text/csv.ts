/** What a field of a table may hold. Null: nothing. */
export type CsvValue = string | number | boolean | null;

/**
 * Spreadsheets take a text that begins with one of these for a formula, full-width forms included; a tab or a line
 * break at the beginning is dropped by some, and what follows counts.
 */
const formula = /^[=+\-@\t\r\n＝＋－＠]/u;
const special = /[",\r\n]/u;

/**
 * A line of a table (RFC 4180), with its line break. A text that a spreadsheet would run begins with an apostrophe,
 * which shows it as it is; numbers are never run.
 */
export const csvLine = (values: readonly CsvValue[]): string => `${values.map(field).join(',')}\r\n`;

function field(value: CsvValue): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const harmless = formula.test(value) ? `'${value}` : value;
  return special.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
