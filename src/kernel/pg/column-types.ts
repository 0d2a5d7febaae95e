import pg from 'pg';

const int8Oid = 20;
const int8ArrayOid = 1016;

/**
 * A bigint column as a number. Every bigint of ours (sats, times, totals) is below 2^53; a larger one would be
 * rounded silently, so it throws, and the query fails.
 */
export function int8ToNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} does not fit a number exactly`);
  return value;
}

function int8ArrayToNumbers(text: string): (number | null)[] {
  const inner = text.slice(1, -1);
  return inner === '' ? [] : inner.split(',').map((item) => (item === 'NULL' ? null : int8ToNumber(item)));
}

/**
 * How columns become values on every connection of ours: int8 is a number (see `int8ToNumber`), bytea a Buffer,
 * numeric a string, the rest as `pg` has it. Per client, so that nothing global changes under other users of `pg`.
 */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (format !== 'binary') {
      if (oid === int8Oid) return int8ToNumber;
      if (oid === int8ArrayOid) return int8ArrayToNumbers;
    }
    return pg.types.getTypeParser(oid, format ?? 'text') as (value: string) => unknown;
  },
};
