import { AppError } from '#kernel/errors/app-error.ts';

/** Checks that exactly one of several exclusive parameters is given. Throws `request_invalid`. */
export function requireOneOf(parameters: Readonly<Record<string, string | undefined>>): void {
  const names = Object.keys(parameters);
  const given = names.filter((name) => parameters[name] !== undefined);
  if (given.length === 1) return;
  const all = `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
  const message =
    given.length === 0
      ? `one of ${all} is required`
      : `only one of ${all} can be searched at once, but the request has ${given.join(' and ')}`;
  const [, second] = given;
  throw new AppError('request_invalid', message, second === undefined ? {} : { parameter: second });
}

const sha256Hex = /^[0-9a-f]{64}$/iu;

/** Parses a SHA-256 in hex. Throws `request_invalid`. */
export function hashOf(text: string, name: string): Uint8Array {
  if (!sha256Hex.test(text))
    throw new AppError('request_invalid', `${name} is not a sha256 in 64 hex digits`, { parameter: name });
  return Buffer.from(text, 'hex');
}
