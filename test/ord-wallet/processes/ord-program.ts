import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort } from '#kernel/process/free-port.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const version = '0.29.1';
/** Maximum duration of a command, in ms. An etching waits for six blocks, and checks for them every five seconds. */
const commandMs = 120_000;

const missing = `ord ${version} is missing. Build it, 8 minutes on two cores, and run this again:
  cargo install ord --version ${version} --locked
or name a program with ORD=/path/to/ord.`;

/**
 * Finds the program that ORD names, one on the path, or one that cargo installed. Throws an error that says what to do.
 */
export function findOrd(): string {
  const candidates = [process.env['ORD'] ?? '', 'ord', join(homedir(), '.cargo/bin/ord')];
  for (const candidate of candidates) {
    if (candidate === '') continue;
    const { stdout } = spawnSync(candidate, ['--version'], { encoding: 'utf8' });
    if (stdout?.trim() === `ord ${version}`) return candidate;
  }
  throw new Error(missing);
}

/** The node that ord uses. */
export interface OrdNode {
  readonly url: string;
  readonly cookieFile: string;
}

/** The result of a command: its JSON, or its error. */
export type OrdResult =
  | { readonly isDone: true; readonly value: unknown }
  | { readonly isDone: false; readonly error: string };

/** ord on one node, with one folder of wallets. */
export class Ord {
  readonly #program: string;
  readonly #node: OrdNode;
  readonly #folder: string;

  constructor(program: string, node: OrdNode, folder: string) {
    this.#program = program;
    this.#node = node;
    this.#folder = folder;
  }

  /** Runs a command of a wallet against a server. */
  async wallet(server: string, name: string, words: readonly string[], input = ''): Promise<OrdResult> {
    const child = this.#start('wallets', ['wallet', '--server-url', server, '--name', name, ...words]);
    const timer = setTimeout(() => child.kill('SIGKILL'), commandMs);
    child.stdin?.end(input);
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout!),
      text(child.stderr!),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    clearTimeout(timer);
    if (code === 0) return { isDone: true, value: stdout.trim() === '' ? null : readJson(stdout) };
    return { isDone: false, error: stderr.trim() || `it ended with ${code ?? 'a signal'}` };
  }

  /** Starts ord's own server. `flags` name the indexes that the wallet needs. */
  async serve(flags: readonly string[]): Promise<{ readonly url: string; end(this: void): Promise<void> }> {
    const port = await freePort();
    const place = ['server', '--address', '127.0.0.1', '--http-port', String(port)];
    const child = this.#start('server', [...flags, ...place]);
    child.stdin?.end();
    child.stdout?.resume();
    child.stderr?.resume();
    const url = `http://127.0.0.1:${port}`;
    await waitUntil(async () => (await fetch(`${url}/blockcount`)).ok, { everyMs: 200 });
    return {
      url,
      end: async () => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        child.kill('SIGKILL');
        await once(child, 'exit');
      },
    };
  }

  #start(folder: string, words: readonly string[]): ChildProcess {
    const { url, cookieFile } = this.#node;
    const place = ['--regtest', '--bitcoin-rpc-url', url, '--cookie-file', cookieFile];
    return spawn(this.#program, [...place, '--data-dir', join(this.#folder, folder), ...words], {
      env: { PATH: process.env['PATH'] ?? '', HOME: this.#folder },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  }
}

/** Parses one JSON value, or a list with one value per line (`label`). */
function readJson(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return output.trim().split('\n');
  }
}
