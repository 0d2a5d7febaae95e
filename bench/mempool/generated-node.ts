/**
 * A node's RPC server with a generated mempool. It runs in a separate process, so that its memory does not count. It
 * answers the calls of a first snapshot like a bitcoind, and prints its port.
 */
import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import { ByteWriter } from '#test/builders/byte-writer.ts';
import { writeEnvelope } from '#test/builders/envelope.ts';
import { seededRandom } from '#test/builders/random.ts';

const [count = 0, seed = 1] = process.argv.slice(2).map(Number);
/** One transaction in this many reveals an inscription. Usually this is a short JSON text, sometimes a picture. */
const revealEvery = 4;
const pictureEvery = 100;
/** Size of the witness in a transaction without an inscription, in bytes. */
const plainWitnessBytes = 1200;

const random = seededRandom(`mempool ${seed}`);
const transactions = new Map<string, Buffer>();

function envelopeOf(index: number): Buffer {
  const out = new ByteWriter();
  const isPicture = index % pictureEvery === 0;
  const body = isPicture
    ? Buffer.alloc(20_000)
    : Buffer.from(`{"p":"brc-20","op":"mint","tick":"t${index % 997}","amt":"${index}"}`);
  if (isPicture) random.fill(body, 0, body.length);
  const type = Buffer.from(isPicture ? 'image/webp' : 'text/plain;charset=utf-8');
  writeEnvelope(out, { fields: [[1, type]], body });
  return Buffer.from(out.bytes.subarray(0, out.length));
}

function makeTransaction(index: number): void {
  const isReveal = index % revealEvery === 0;
  const inputs = isReveal ? 1 : 4;
  const head = new ByteWriter();
  head.u32(2);
  const body = new ByteWriter();
  body.compactSize(inputs);
  const outpoint = Buffer.alloc(32);
  for (let input = 0; input < inputs; input++) {
    random.fill(outpoint, 0, 32);
    body.set(outpoint);
    body.u32(input);
    body.u8(0);
    body.u32(0xfffffffd);
  }
  const outputs = isReveal ? 1 : 4;
  body.compactSize(outputs);
  for (let output = 0; output < outputs; output++) {
    body.u64(10_000);
    body.u8(34);
    body.u8(0x51);
    body.u8(32);
    random.fill(outpoint, 0, 32);
    body.set(outpoint);
  }
  const witness = new ByteWriter();
  for (let input = 0; input < inputs; input++) {
    const script = isReveal ? envelopeOf(index) : Buffer.alloc(plainWitnessBytes / inputs, 0x51);
    witness.compactSize(2);
    witness.compactSize(script.length);
    witness.set(script);
    witness.compactSize(33);
    witness.set(Buffer.alloc(33, 0xc0));
  }
  const part = (writer: ByteWriter): Buffer => writer.bytes.subarray(0, writer.length);
  const end = Buffer.alloc(4);
  const stripped = Buffer.concat([part(head), part(body), end]);
  const txid = hash('sha256', hash('sha256', stripped, 'buffer'), 'buffer')
    .reverse()
    .toString('hex');
  transactions.set(txid, Buffer.concat([part(head), Buffer.of(0, 1), part(body), part(witness), end]));
}

for (let index = 0; index < count; index++) makeTransaction(index);
let bytes = 0;
for (const transaction of transactions.values()) bytes += transaction.length;

// equals the index's tip, so that no block is read
const tip = '00'.repeat(32);
const answers: Readonly<Record<string, (parameters: readonly unknown[]) => unknown>> = {
  getbestblockhash: () => tip,
  getrawmempool: () => ({ txids: [...transactions.keys()], mempool_sequence: count + 1 }),
  getrawtransaction: ([txid]) => transactions.get(String(txid))?.toString('hex'),
  getmempoolentry: () => ({ fees: { base: 0.00001234 }, time: 1_767_323_045 }),
  gettxout: () => ({ value: 0.0001, confirmations: 1, scriptPubKey: { hex: '51' } }),
};

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}
const answerOf = ({ id, method, params }: Call): unknown => ({
  id,
  error: null,
  result: answers[method]?.(params) ?? null,
});

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[];
    const answer = Array.isArray(asked) ? asked.map(answerOf) : answerOf(asked);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer));
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number };
  process.send?.({ port, bytes });
});
