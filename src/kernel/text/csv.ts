/** Value of a field of a table. Null: empty. */
export type CsvValue = string | number | boolean | null;

/**
 * Characters with which spreadsheets begin a formula, full-width forms included. Some drop a tab or a line break at the
 * beginning, and read the rest.
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
