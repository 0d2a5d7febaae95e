/** Value of a field of a table. `null` means an empty field. */
export type CsvValue = string | number | boolean | null;

/**
 * Characters with which spreadsheets begin a formula, including full-width forms. Some spreadsheets ignore a tab or a
 * line break at the beginning, and read the rest.
 */
const formula = /^[=+\-@\t\r\n＝＋－＠]/u;
const special = /[",\r\n]/u;

/**
 * A line of a table (RFC 4180), with its line break. If a spreadsheet would run a text as a formula, the text gets an
 * apostrophe at the beginning, so that the spreadsheet shows it unchanged. Numbers are never run.
 */
export const csvLine = (values: readonly CsvValue[]): string => `${values.map(field).join(',')}\r\n`;

function field(value: CsvValue): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const harmless = formula.test(value) ? `'${value}` : value;
  return special.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
