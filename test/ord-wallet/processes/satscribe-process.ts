import { chmod, mkdir } from 'node:fs/promises';
import type { Bitcoind } from '#test/support/node/bitcoind.ts';
import { startCli } from '#test/support/run-cli.ts';

/** A complete service on a node, with its own Postgres. */
export interface SatscribeProcess {
  readonly url: string;
  end(this: void): Promise<void>;
}

export async function startSatscribe(
  folder: string,
  { rpcUrl, cookieFile }: Bitcoind,
  flags: readonly string[],
): Promise<SatscribeProcess> {
  await mkdir(folder);
  // the account of the embedded server must be able to reach the folder
  await chmod(folder, 0o755);
  const place = ['--node', rpcUrl, '--cookie-file', cookieFile, '--data', folder, '--port', '0'];
  const service = startCli(['serve', ...place, '--log-level', 'warn', ...flags]);
  const [, url = ''] = await service.seen(/ready (http:\S+)/u);
  return {
    url,
    end: async () => {
      service.child.kill('SIGTERM');
      await service.ended;
    },
  };
}
