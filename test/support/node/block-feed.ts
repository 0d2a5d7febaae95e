import { Agent, request } from 'undici';
import { displayHash } from '#kernel/primitives/hash.ts';

/** Where a node takes calls, and the word that it asks for. */
export interface NodeAccess {
  /** e.g. `http://127.0.0.1:18443`. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
}

interface RpcAnswer {
  readonly result: unknown;
  readonly error: { readonly code: number; readonly message: string } | null;
}

// a block of 2 MB is checked for a second on a busy machine
const callTimeoutMs = 120_000;
const agent = new Agent({ connections: 4, headersTimeout: callTimeoutMs, bodyTimeout: callTimeoutMs });

/** One call. Throws with the node's message where it refuses. */
export async function callNode<Result>(
  access: NodeAccess,
  method: string,
  params: readonly unknown[] = [],
): Promise<Result> {
  const authorization = `Basic ${Buffer.from(`${access.user}:${access.password}`).toString('base64')}`;
  const { body } = await request(access.url, {
    method: 'POST',
    dispatcher: agent,
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '1.0', id: 1, method, params }),
  });
  const { result, error } = (await body.json()) as RpcAnswer;
  if (error !== null) throw new Error(`${method}: ${error.message} (${error.code})`);
  return result as Result;
}

/** What `submitblock` says of a block that was taken: on the best chain, there before, or on another branch. */
const taken = new Set<unknown>([null, 'duplicate', 'inconclusive', 'duplicate-inconclusive']);

/** Gives a node a block. Throws where it does not take it. */
export async function submitBlock(
  access: NodeAccess,
  block: { readonly height: number; readonly hash: Uint8Array; readonly bytes: Uint8Array },
): Promise<void> {
  const hex = Buffer.from(block.bytes.buffer, block.bytes.byteOffset, block.bytes.length).toString('hex');
  const said = await callNode<unknown>(access, 'submitblock', [hex]);
  if (!taken.has(said)) {
    throw new Error(`block ${block.height} ${displayHash(block.hash)} was refused: ${String(said)}`);
  }
}
