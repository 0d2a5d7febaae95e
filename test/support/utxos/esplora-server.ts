import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';

/** A server with the two Esplora paths that a source of unspent outputs requests. Its data comes from a real node. */
export interface EsploraServer {
  readonly url: string;
  /** Requested paths. */
  readonly asked: string[];
  /** Response that replaces the true one; `null` for the true one. */
  instead: { readonly status: number; readonly body: string } | null;
  /** Outputs of the mempool, which the server lists too. */
  readonly unconfirmed: { readonly txid: string; readonly vout: number; readonly value: number }[];
  close(): void;
}

interface Unspent {
  readonly txid: string;
  readonly vout: number;
  readonly amount: number;
  readonly height: number;
  readonly blockhash: string;
}

export async function startEsploraServer(rpc: NodeRpc): Promise<EsploraServer> {
  const asked: string[] = [];
  const unconfirmed: EsploraServer['unconfirmed'] = [];
  const answer = async (path: string): Promise<string> => {
    if (path === '/api/blocks/tip/height') return String(await rpc.call<number>('getblockcount'));
    const [, address = ''] = /^\/api\/address\/([^/]+)\/utxo$/u.exec(path) ?? [];
    const { unspents } = await rpc.call<{ unspents: readonly Unspent[] }>('scantxoutset', [
      'start',
      [`addr(${address})`],
    ]);
    const confirmed = unspents.map(async ({ txid, vout, amount, height, blockhash }) => {
      const { time } = await rpc.call<{ time: number }>('getblockheader', [blockhash]);
      const status = { confirmed: true, block_height: height, block_hash: blockhash, block_time: time };
      return { txid, vout, status, value: satsOfBitcoins(amount) };
    });
    const pending = unconfirmed.map((output) => ({ ...output, status: { confirmed: false } }));
    return JSON.stringify([...pending, ...(await Promise.all(confirmed))]);
  };
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const { instead } = esplora;
    if (instead !== null) response.writeHead(instead.status).end(instead.body);
    else
      answer(request.url ?? '').then(
        (body) => response.end(body),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const esplora: EsploraServer = {
    url: `http://127.0.0.1:${port}/api`,
    asked,
    instead: null,
    unconfirmed,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return esplora;
}
