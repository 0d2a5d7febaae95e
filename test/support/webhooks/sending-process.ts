// Sends webhooks until it is killed, and writes its log to stdout. Usage: sending-process.ts DATABASE_URL FAILPOINT
import { pino } from 'pino';
import { armFailpoint, webhookFailpoints } from '#kernel/process/failpoint.ts';
import { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import { deliverWebhooks } from '#webhooks/deliver-webhooks.ts';
import { everyNameIsHere, testKeys } from './sending.ts';

const [url = '', armed = ''] = process.argv.slice(2);
const point = webhookFailpoints.find((known) => known === armed);
if (point !== undefined) armFailpoint(point, 1);

await deliverWebhooks({
  url,
  http: new OutgoingHttp({ allowPrivate: true, lookup: everyNameIsHere }),
  keys: () => Promise.resolve(testKeys),
  userAgent: 'satscribe/0.0.0-test',
  signal: new AbortController().signal,
  log: pino(),
});
