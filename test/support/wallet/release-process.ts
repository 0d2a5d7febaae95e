/**
 * A process that releases indices of a wallet. Tests kill it between two steps. Its only argument is JSON. It prints a
 * line once it has released some indices.
 */
import { armFailpoint, type Failpoint } from '#kernel/process/failpoint.ts';
import { silentLogger } from '#test/support/http-app.ts';
import { releaseIndices } from '#wallet/indices/release-indices.ts';
import type { WalletIdentity } from '#wallet/wallet-identity.ts';

export interface ReleaseProcessOptions {
  readonly url: string;
  readonly markFile: string;
  readonly owner: WalletIdentity;
  readonly killedAt: readonly [Failpoint, number] | null;
}

const options = JSON.parse(process.argv[2] ?? '') as ReleaseProcessOptions;
if (options.killedAt !== null) armFailpoint(...options.killedAt);
const { tried, ended } = releaseIndices({
  ...options,
  signal: new AbortController().signal,
  log: silentLogger(),
  onProblem: (problem) => {
    if (problem !== null) process.stderr.write(`${problem.code}\n`);
  },
});
await tried;
process.stdout.write('released\n');
await ended;
