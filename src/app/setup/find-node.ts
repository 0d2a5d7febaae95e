import { access, constants } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type NetworkName, networkNames } from '#kernel/primitives/network.ts';

/** Ports of RPC by network, and the folder in bitcoind's data folder (Bitcoin Core, chainparamsbase.cpp). */
const usualPlaces: Readonly<Record<NetworkName, { readonly port: number; readonly folder: string }>> = {
  mainnet: { port: 8332, folder: '' },
  testnet3: { port: 18_332, folder: 'testnet3' },
  testnet4: { port: 48_332, folder: 'testnet4' },
  signet: { port: 38_332, folder: 'signet' },
  regtest: { port: 18_443, folder: 'regtest' },
};

/** Data folders of bitcoind: those of a person on Linux and macOS, and those of packages and units. */
const usualFolders = (home: string): readonly string[] => [
  join(home, '.bitcoin'),
  join(home, 'Library/Application Support/Bitcoin'),
  '/var/lib/bitcoind',
  '/var/lib/bitcoin',
  '/home/bitcoin/.bitcoin',
];

/** A place in which a node may be. */
export interface UsualNode {
  readonly network: NetworkName;
  readonly rpcUrl: string;
  readonly cookieFile: string;
  /** Whether there is a cookie that this process can read. */
  readonly hasCookie: boolean;
}

/** The usual place of a network's node: the first folder with a readable cookie, else the person's own. */
export async function usualNode(network: NetworkName, home: string = homedir()): Promise<UsualNode> {
  const { port, folder } = usualPlaces[network];
  const rpcUrl = `http://127.0.0.1:${port}`;
  const cookies = usualFolders(home).map((place) => join(place, folder, '.cookie'));
  for (const cookieFile of cookies) {
    if (await isReadable(cookieFile)) return { network, rpcUrl, cookieFile, hasCookie: true };
  }
  return { network, rpcUrl, cookieFile: cookies[0] ?? '.cookie', hasCookie: false };
}

/** The first network that has a node on this machine, by its cookie. Null: there is no cookie. */
export async function networkOfNode(home?: string): Promise<NetworkName | null> {
  for (const network of networkNames) {
    if ((await usualNode(network, home)).hasCookie) return network;
  }
  return null;
}

const isReadable = (path: string): Promise<boolean> =>
  access(path, constants.R_OK).then(
    () => true,
    () => false,
  );
