import { describe, expect, test } from 'vitest';
import type { CommandContext } from '#src/app/command-context.ts';
import { parseCommandLine } from '#src/cli.ts';
import { payoutLines } from '#src/commands/ordering/payouts-shown.ts';

/** Why a command line is refused, before any database is opened. */
async function refusal(line: string): Promise<unknown> {
  const parsed = parseCommandLine(line.split(' '));
  if (parsed.kind === 'help') throw new Error('it is help');
  const { command, flags, words } = parsed;
  try {
    await command.run({ flags, words } as unknown as CommandContext);
  } catch (error) {
    return error;
  }
  throw new Error(`${line} is not refused`);
}

describe('satscribe payouts', () => {
  test.each([
    [
      'payouts',
      'missing subcommand; use satscribe payouts list, referrals, creators, revenue, send, cancel, held, hold or release',
    ],
    ['payouts pay', 'unknown subcommand pay; use satscribe payouts list, '],
    ['payouts list old', 'unexpected word old; satscribe payouts --help shows the usage'],
    ['payouts list --code a', '--code is not a flag of satscribe payouts list'],
    ['payouts send --limit 5', '--limit is not a flag of satscribe payouts send'],
    ['payouts revenue --dry-run', '--dry-run is not a flag of satscribe payouts revenue'],
    ['payouts list --limit 0', '--limit must be a number from 1 to 10000'],
    ['payouts list --limit 10001', '--limit must be a number from 1 to 10000'],
    ['payouts list --limit ten', '--limit must be a number from 1 to 10000'],
    ['payouts list --json --csv', '--json and --csv exclude each other'],
    ['payouts referrals --json --csv', '--json and --csv exclude each other'],
    ['payouts creators --csv --json', '--json and --csv exclude each other'],
    ['payouts creators --code a', '--code is not a flag of satscribe payouts creators'],
    ['payouts referrals --creator a', '--creator is not a flag of satscribe payouts referrals'],
    ['payouts send --code a --creator b', '--code and --creator exclude each other'],
    ['payouts revenue --sats 500', 'missing address; use satscribe payouts revenue --to ADDRESS --sats N'],
    ['payouts revenue --to a --sats 0', '--sats 0 must be a whole number of sats above 0'],
    ['payouts revenue --to a --sats 1.5', '--sats 1.5 must be a whole number of sats above 0'],
    ['payouts revenue --to a --sats 1e3', '--sats 1e3 must be a whole number of sats above 0'],
    ['payouts cancel', 'missing payout; use satscribe payouts cancel <id>, and satscribe payouts list for'],
    ['payouts cancel 5', 'missing payout; use satscribe payouts cancel <id>, and satscribe payouts list for'],
  ])('refuses %s, and names the right form', async (line, why) => {
    const error = await refusal(line);
    expect(error).toMatchObject({ name: 'UsageError' });
    expect((error as Error).message).toContain(why);
  });

  test('shows a payout in two lines or more, with its transaction and the reason why it waits', () => {
    const listed = {
      id: '6b0d4b1c-0000-4000-8000-000000000001',
      kind: 'referral',
      state: 'sent',
      askedAt: new Date('2026-01-02T03:04:05.678Z'),
      sentAt: null,
      minedAt: null,
      txid: 'ab'.repeat(32),
      sats: 1300,
      fee: 170,
      stuck: 'It waits.\u001b[31m',
      shares: [{ code: 'friend', address: 'bc1q', sats: 1300 }],
    } as const;
    expect(payoutLines([listed])).toBe(
      `2026-01-02T03:04:05Z referral sent              1300 sats fee 170    1 share\n  ${listed.id}\n  ${listed.txid}\n  It waits.\\u001b[31m\n`,
    );
    const asked = { ...listed, state: 'asked', txid: null, fee: null, stuck: null } as const;
    expect(payoutLines([asked])).toBe(
      `2026-01-02T03:04:05Z referral asked             1300 sats fee -      1 share\n  ${listed.id}\n`,
    );
    expect(payoutLines([])).toMatch(
      /^no payouts; satscribe payouts referrals and satscribe payouts creators show/u,
    );
  });
});
