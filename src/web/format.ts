/** 1234567 -> 1,234,567 */
export function grouped(value: number): string {
  return value.toLocaleString('en-US');
}

/** Groups digits with any number of decimals: 1234567.5 -> 1,234,567.5 */
export function groupedDecimal(digits: string): string {
  const [whole = '', ...fraction] = digits.split('.');
  const first = whole.length % 3;
  const groups = [whole.slice(0, first), ...(whole.slice(first).match(/\d{3}/gu) ?? [])];
  return [groups.filter((group) => group !== '').join(','), ...fraction].join('.');
}

const units = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

/** A number of bytes in a readable unit. */
export function sizeWords(bytes: number): string {
  if (bytes === 1) return '1 byte';
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[unit] ?? ''}`;
}

/** Unix seconds as `2023-02-01 13:37 UTC`. */
export function timeWords(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** A long hash or id, shortened to its beginning and end. */
export function shortHash(text: string): string {
  return text.length <= 20 ? text : `${text.slice(0, 8)}…${text.slice(-8)}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** A time span in its two largest units: 3 h 20 min, 2 days 4 h. */
export function spanWords(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  const days = plural(Math.floor(hours / 24), 'day');
  return hours % 24 === 0 ? days : `${days} ${hours % 24} h`;
}
