/**
 * Prints how often Schemathesis' requests got each status (counts of ./real_values.py). Fails if there were too few
 * requests.
 */
import { readFileSync } from 'node:fs';

type Row = readonly [operation: string, status: number, count: number];

const [file = '', least = '0'] = process.argv.slice(2);
const rows = JSON.parse(readFileSync(file, 'utf8')) as readonly Row[];

function sumBy(key: (row: Row) => string): [string, number][] {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(key(row), (sums.get(key(row)) ?? 0) + row[2]);
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const total = rows.reduce((sum, [, , count]) => sum + count, 0);
const refused = new Map(
  sumBy(([operation, status]) => (status === 400 ? operation : '')).filter(([operation]) => operation !== ''),
);
const operations = sumBy(([operation]) => operation);
// half of the cases are wrong on purpose, so more than that suggests a problem
const mostlyRefused = operations
  .filter(([operation, count]) => count >= 20 && (refused.get(operation) ?? 0) > count * 0.75)
  .map(([operation, count]) => `${operation} ${refused.get(operation)} of ${count}`);

const classes = sumBy(([, status]) => `${String(status)[0]}xx`);
const statuses = sumBy(([, status]) => String(status));
const shown = (sums: readonly [string, number][]): string =>
  sums.map(([name, count]) => `${name} ${count}`).join(', ');
if (mostlyRefused.length > 0) console.log(`mostly 400:\n  ${mostlyRefused.join('\n  ')}`);
console.log(`statuses: ${shown(statuses)}`);
console.log(`${total} requests to ${operations.length} operations: ${shown(classes)}`);
if (total < Number(least)) {
  console.error(`fewer requests than asked for: ${total} of ${least}`);
  process.exitCode = 1;
}
