// Follows payments until it is killed, and writes its log to stdout. Usage: payments-process.ts DATABASE_URL RPC_URL
// COOKIE_FILE [FAILPOINT:N]
import { pino } from 'pino';
import { openNodeSource } from '#indexer/source/node-source.ts';
import { genesisHeight } from '#kernel/primitives/height.ts';
import { armFailpoint, paymentFailpoints } from '#kernel/process/failpoint.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import { followPayments } from '#payments/follow/follow-payments.ts';

const [url = '', rpcUrl = '', file = '', armed = ''] = process.argv.slice(2);
const [name, passes] = armed.split(':');
const point = paymentFailpoints.find((known) => known === name);
if (point !== undefined) armFailpoint(point, Number(passes));

const node = await connectNode({ rpcUrl, auth: { kind: 'cookie', file } });
const source = openNodeSource(node, { firstHeight: genesisHeight });
await followPayments({ url, source, node, signal: new AbortController().signal, log: pino() });
