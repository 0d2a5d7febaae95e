/** The server that receives the bodies. ./bodies-bench.ts starts it, and exchanges messages with it. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Type } from 'typebox';
import { bodyText, textBytes } from '#http/bodies/parsing/long-texts.ts';
import { open } from '#http/server/access/guard.ts';
import { bodyLimits } from '#http/server/limits.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { createRoutesApp } from '#test/support/http/routes-app.ts';

/** Delays of the event loop while bodies were received, in ms. */
export interface LoopDelays {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  /**
   * Longest processor time between two samples. This is the work of the process itself, however busy the machine is.
   */
  readonly busiestMs: number;
}
export type ServerMessage = { readonly port: number } | LoopDelays;

/** Interval between two samples, in ms. It is included in the figures. */
const lookEveryMs = 1;

const app = createRoutesApp();
app.register(async (scope) => {
  apiRoute(scope as App, {
    method: 'POST',
    url: '/bench/order',
    schema: {
      operationId: 'benchOrder',
      summary: 'An order as large as orders may be',
      tags: ['bench'],
      body: Type.Object({
        files: Type.Array(Type.Object({ name: Type.String(), dataURL: bodyText('the file as base64') })),
      }),
      response: { 200: Type.Object({ bytes: Type.Integer() }) },
    },
    config: { errors: 'orderWrite', guard: open, longTexts: true },
    bodyLimit: bodyLimits.order,
    handler: async ({ body }) => ({
      bytes: body.files.reduce((sum, { dataURL }) => sum + textBytes(dataURL), 0),
    }),
  });
});

/** Measures the longest processor time that the thread used between two samples. */
class BusiestStretch {
  #longestMicros = 0;
  #before = process.threadCpuUsage();
  readonly #timer = setInterval(() => {
    const now = process.threadCpuUsage();
    const spent = now.user + now.system - this.#before.user - this.#before.system;
    this.#longestMicros = Math.max(this.#longestMicros, spent);
    this.#before = now;
  }, lookEveryMs);

  end(): number {
    clearInterval(this.#timer);
    return this.#longestMicros / 1000;
  }
}

let delays = monitorEventLoopDelay({ resolution: lookEveryMs });
let busiest: BusiestStretch | null = null;
const send = (message: ServerMessage): void => {
  process.send?.(message);
};
process.on('message', (asked) => {
  if (asked === 'begin') {
    delays = monitorEventLoopDelay({ resolution: lookEveryMs });
    delays.enable();
    busiest = new BusiestStretch();
    return;
  }
  delays.disable();
  send({
    p50Ms: delays.percentile(50) / 1e6,
    p99Ms: delays.percentile(99) / 1e6,
    longestMs: delays.max / 1e6,
    busiestMs: busiest?.end() ?? 0,
  });
});
process.on('disconnect', () => void app.close());
send({ port: Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port) });
