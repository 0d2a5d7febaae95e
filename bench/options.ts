/** A wrong option; the message explains it. */
export class OptionError extends Error {}

/** The value of an option that must be a number of at least `least`. */
export function numberOption(name: string, text: string, least: number): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < least) {
    throw new OptionError(`--${name} must be a number of at least ${least}, not '${text}'`);
  }
  return value;
}

/** The value of an option that must be one of some names; null: it was not given. */
export function nameOption<Name extends string>(
  name: string,
  text: string | undefined,
  names: readonly Name[],
): Name | null {
  if (text === undefined) return null;
  const found = names.find((each) => each === text);
  if (found === undefined) throw new OptionError(`--${name} must be one of ${names.join(', ')}`);
  return found;
}
