import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Flow } from './flow.ts';
import { findOrd, Ord } from './processes/ord-program.ts';
import { startSatscribe } from './processes/satscribe-process.ts';
import { startWalletNode } from './processes/wallet-node.ts';
import { Steps } from './steps.ts';

/*
 * npm run test:ord-wallet: runs ord 0.29.1's wallet on a real node, with Satscribe in place of ord's server. After each
 * step it compares every list of two wallets with the same list from ord's server. It takes some minutes, and needs an
 * installed ord.
 */

const startedAt = performance.now();
const say = (line: string): void => console.log(line);
/** Functions that end the started processes, called in reverse order. */
const ends: (() => Promise<void>)[] = [];

async function prepare(folder: string): Promise<{ steps: Steps; flow: Flow }> {
  const program = findOrd();
  const node = await startWalletNode();
  ends.push(() => node.remove());
  say(`${program} on ${node.version}`);
  // a first block, so that no server starts on an empty chain
  await node.mine();
  const { cookieFile, rpcUrl } = node.node;
  const ord = new Ord(program, { url: node.walletUrl, cookieFile }, folder);
  const served = async (name: string, flags: readonly string[]): Promise<string> => {
    const own = new Ord(program, { url: rpcUrl, cookieFile }, join(folder, name));
    const { url, end } = await own.serve(flags);
    ends.push(end);
    return url;
  };
  const started = async (name: string, flags: readonly string[]): Promise<string> => {
    const { url, end } = await startSatscribe(join(folder, name), node.node, flags);
    ends.push(end);
    return url;
  };
  const servers = {
    ordPlain: await served('ord-plain', ['--index-runes']),
    ordFull: await served('ord-full', ['--index-runes', '--index-sats', '--index-addresses']),
    plain: await started('satscribe-plain', []),
    full: await started('satscribe-full', ['--index-sats', '--index-addresses']),
  };
  const steps = new Steps(ord, node, servers, say);
  return { steps, flow: new Flow(steps, node, folder, say) };
}

const folder = await mkdtemp(join(tmpdir(), 'satscribe-ord-wallet-'));
// the accounts of the embedded servers must be able to reach their folders
await chmod(folder, 0o755);
let line = 'ord-wallet: failed';
try {
  const { steps, flow } = await prepare(folder);
  await flow.run();
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  line = `ord-wallet: ${steps.commands} commands, ${steps.compared} answers compared with ord's server, 0 differences, ${minutes} minutes`;
} catch (error) {
  process.exitCode = 1;
  console.error(error instanceof Error ? error.message : error);
} finally {
  for (const end of ends.toReversed()) await end().catch(() => undefined);
  await rm(folder, { recursive: true, force: true });
}
say(line);
