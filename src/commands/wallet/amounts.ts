import { type CommandContext, UsageError } from '#src/app/command-context.ts';

/** Maximum fee rate that the wallet signs, in sats per vbyte. */
const feeRateMax = 10_000n;
const indexMax = 2_000_000_000;

/** Reads sats per 1,000 virtual bytes from `--fee-rate`, which has sats per virtual byte. */
export function feeRateOf(flags: CommandContext['flags']): bigint {
  const text = flags['fee-rate'];
  if (text === undefined)
    throw new UsageError('missing fee rate; name it in sats per virtual byte with --fee-rate');
  const [, whole = '', decimals = ''] = /^(\d{1,5})(?:\.(\d{1,3}))?$/u.exec(text) ?? [];
  const rate = whole === '' ? 0n : BigInt(whole) * 1000n + BigInt(decimals.padEnd(3, '0'));
  if (rate > 0n && rate <= feeRateMax * 1000n) return rate;
  throw new UsageError(
    `--fee-rate ${text} must be above 0 and at most ${feeRateMax} sats per virtual byte, with at most three decimals`,
  );
}

/** Reads the number in a flag. `null` if the flag is absent. */
export function wholeNumber(flags: CommandContext['flags'], name: string): number | null {
  const text = flags[name];
  if (text === undefined) return null;
  const value = /^\d{1,10}$/u.test(text) ? Number(text) : Number.NaN;
  if (value <= indexMax) return value;
  throw new UsageError(`--${name} ${text} must be a whole number from 0 to ${indexMax}`);
}
