/** An error about a wrong option. Its message explains what is wrong. */
export class OptionError extends Error {}

/** The value of an option that must be a number of at least `least`. Throws an OptionError otherwise. */
export function numberOption(name: string, text: string, least: number): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < least) {
    throw new OptionError(`--${name} must be a number of at least ${least}, not '${text}'`);
  }
  return value;
}

/** The value of an option that must be one of these names; `null` if the option is not given. */
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
