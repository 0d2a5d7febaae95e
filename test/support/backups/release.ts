import { runCommand } from '#test/support/run-command.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/** How long payments may take to follow the chain to its tip, in ms. */
const tipMs = 60_000;

/** Releases payments on hold as soon as payments are followed to the tip. Returns the output of the command. */
export const released = (env: Record<string, string>): Promise<string> =>
  waitUntil(() => runCommand(['payouts', 'release', '--yes'], env), { limitMs: tipMs, everyMs: 500 });
