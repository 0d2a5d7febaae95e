import http from 'node:http';
import https from 'node:https';
import BitcoinCore from 'bitcoin-core';
import type { BatchRpc, CallOptions, RpcBatchCall } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { shownAddress } from '#kernel/shown-address.ts';
import { boundedPost, type RequestLibrary } from './bounded-post.ts';
import type { Credentials, UserAndPassword } from './credentials.ts';
import { type Call, failureOfCall, isUnauthorized } from './node-failure.ts';

/**
 * Maximum number of connections. By default, bitcoind processes 4 calls at a time and queues 16 more. Since Bitcoin
 * Core 29 it processes 16 and queues 64 (`-rpcthreads`, `-rpcworkqueue`). This process alone never fills either queue.
 */
const connectionsMax = 8;
/**
 * How long an idle connection is kept, in ms. bitcoind closes idle connections after 30 s (rpcservertimeout). This
 * process closes them first, so that no call uses a connection that the node is closing.
 */
const idleConnectionMs = 10_000;

export interface CoreRpc extends BatchRpc {
  close(): void;
}

/**
 * Client for calls through the `bitcoin-core` package. The package sends all requests with `postAsync`. That function
 * is replaced here, to limit the bytes and the time of an answer, and to abort a call. The package's errors never leave
 * this file, because they may contain the request. Numbers of more than 15 characters are returned as strings.
 */
export function createCoreRpc(url: string, credentials: Credentials): CoreRpc {
  const agentOptions = { keepAlive: true, maxSockets: connectionsMax, timeout: idleConnectionMs };
  const agent = url.startsWith('https:') ? new https.Agent(agentOptions) : new http.Agent(agentOptions);

  const address = shownAddress(url);
  const client = new BitcoinCore({ host: url, logger: silent });
  const library = client.request as unknown as RequestLibrary;
  // `command` reaches `postAsync` before it returns, so options that are set just before belong to that call
  let optionsOfCall: CallOptions = {};
  library.postAsync = (request) => boundedPost(library, { ...request, agent }, optionsOfCall);

  const send = (
    shown: UserAndPassword | null,
    command: readonly unknown[],
    options: CallOptions,
  ): Promise<unknown> => {
    optionsOfCall = options;
    client.auth = shown === null ? null : { user: shown.user, pass: shown.password };
    return client.command<unknown>(...command);
  };

  const callOf = (name: string): Call => ({
    url: address,
    name,
    redact: (text) => credentials.redact(text),
    refusal: () => credentials.refusal(),
  });

  const authorised = async (
    name: string,
    command: readonly unknown[],
    options: CallOptions,
  ): Promise<unknown> => {
    options.signal?.throwIfAborted();
    const shown = await credentials.current();
    try {
      return await send(shown, command, options);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!isUnauthorized(error) || !(await credentials.renew(shown))) {
        throw failureOfCall(error, callOf(name));
      }
    }
    try {
      return await send(await credentials.current(), command, options);
    } catch (error) {
      options.signal?.throwIfAborted();
      throw failureOfCall(error, callOf(name));
    }
  };

  return {
    url: address,
    call: async <Result>(method: string, parameters: readonly unknown[] = [], options: CallOptions = {}) =>
      (await authorised(method, [method, ...parameters], options)) as Result,
    batch: async <Result>(calls: readonly RpcBatchCall[], options: CallOptions = {}) => {
      const name = calls[0]?.method ?? 'nothing';
      const results = await authorised(name, [calls], options);
      return checkedBatch(results, calls, callOf(name)) as Result[];
    },
    close: () => agent.destroy(),
  };
}

/** A logger that drops all messages. The package would log every call and answer in full. */
const silent = { debug: () => undefined };

function checkedBatch(results: unknown, calls: readonly RpcBatchCall[], call: Call): unknown[] {
  if (!Array.isArray(results) || results.length !== calls.length) {
    throw new AppError(
      'node_answer_invalid',
      `The node at ${call.url} did not answer all of ${calls.length} calls of ${call.name}.`,
      { method: call.name },
    );
  }
  const failed: unknown = results.find((result) => result instanceof Error);
  if (failed !== undefined) throw failureOfCall(failed, call);
  return results;
}
