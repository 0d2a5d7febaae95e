import type { AppError } from '#kernel/errors/app-error.ts';
import { Retry } from '#kernel/retry.ts';
import type { ElasticClient } from '#search/elastic/server/elastic-client.ts';
import { type ElasticReason, failureOfStatus } from '#search/elastic/server/elastic-failure.ts';
import { writeAlias } from '#search/elastic/server/search-index.ts';
import type { SearchDocument } from './group-document.ts';

export interface BulkOptions {
  /** Of one request. Default 4 MiB: more makes it no faster, and the server holds several in its heap. */
  readonly bytesMax?: number;
  /** Requests under way. Default 2: one is analysed while the next one is made. */
  readonly requestsMax?: number;
  /** How long a request is tried again while the server is busy, full or away. Default: 60 s. */
  readonly budgetMs?: number;
  readonly signal?: AbortSignal;
  readonly onRetry?: (error: AppError) => void;
}

export interface BulkCounts {
  /** Written by this call. */
  readonly documents: number;
  /** Not written, as the index has a newer version. */
  readonly superseded: number;
  readonly bytes: number;
}

const defaults = { bytesMax: 4 * 1024 * 1024, requestsMax: 2, budgetMs: 60_000 };

/** A document as two lines. */
type Lines = string;

interface BulkItem {
  readonly index?: { readonly status: number; readonly error?: ElasticReason };
}

interface BulkAnswer {
  readonly errors: boolean;
  readonly items?: readonly BulkItem[];
}

/**
 * Writes documents into an index, in requests of some megabytes, several at once. Writing the same again does no harm:
 * a version that is there already is overwritten with itself, a newer one stays. What the server has no room for now is sent again
 * after a pause, alone. Throws the failure of the first document that was refused for good; others may have been written.
 * Nothing of it is visible before `refreshIndex`.
 */
export async function bulkDocuments(
  client: ElasticClient,
  index: string,
  documents: AsyncIterable<SearchDocument> | Iterable<SearchDocument>,
  options: BulkOptions = {},
): Promise<BulkCounts> {
  const { bytesMax, requestsMax } = { ...defaults, ...options };
  const sender = new BulkSender(client, index, options);
  let lines: Lines[] = [];
  let bytes = 0;
  try {
    for await (const document of documents) {
      const pair = linesOf(document);
      const size = Buffer.byteLength(pair);
      if (bytes > 0 && bytes + size > bytesMax) {
        await sender.send(lines, bytes, requestsMax);
        lines = [];
        bytes = 0;
      }
      lines.push(pair);
      bytes += size;
    }
    if (lines.length > 0) await sender.send(lines, bytes, requestsMax);
  } finally {
    await sender.settle();
  }
  return sender.finish();
}

function linesOf({ id, version, source }: SearchDocument): Lines {
  return `{"index":{"_id":${JSON.stringify(id)},"version":${version},"version_type":"external_gte"}}\n${JSON.stringify(source)}\n`;
}

class BulkSender {
  readonly #client: ElasticClient;
  readonly #index: string;
  readonly #options: BulkOptions;
  readonly #retry: Retry;
  readonly #underWay = new Set<Promise<void>>();
  #failure: Error | undefined;
  #documents = 0;
  #superseded = 0;
  #bytes = 0;

  constructor(client: ElasticClient, index: string, options: BulkOptions) {
    this.#client = client;
    this.#index = index;
    this.#options = options;
    this.#retry = new Retry({
      budgetMs: options.budgetMs ?? defaults.budgetMs,
      ...(options.onRetry === undefined ? {} : { onRetry: options.onRetry }),
    });
  }

  /** Begins a request once fewer than `requestsMax` are under way. Throws what an earlier one failed with. */
  async send(lines: Lines[], bytes: number, requestsMax: number): Promise<void> {
    while (this.#underWay.size >= requestsMax) await Promise.race(this.#underWay);
    if (this.#failure !== undefined) throw this.#failure;
    const request = this.#write(lines, bytes)
      .catch((error: unknown) => {
        this.#failure ??= error instanceof Error ? error : new Error('a bulk failed', { cause: error });
      })
      .finally(() => this.#underWay.delete(request));
    this.#underWay.add(request);
  }

  async settle(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  finish(): BulkCounts {
    if (this.#failure !== undefined) throw this.#failure;
    return { documents: this.#documents, superseded: this.#superseded, bytes: this.#bytes };
  }

  async #write(lines: Lines[], bytes: number): Promise<void> {
    let left = lines;
    await this.#retry.run(async () => {
      const answer = await this.#client.request<BulkAnswer>({
        method: 'POST',
        path: `/${writeAlias(this.#index)}/_bulk`,
        query: { require_alias: true, filter_path: 'errors,items.*.status,items.*.error' },
        lines: left.join(''),
        signal: this.#options.signal,
      });
      const examined = this.#examine(left, answer);
      left = examined.left;
      if (examined.passing !== null) throw examined.passing;
    }, this.#options.signal);
    this.#bytes += bytes;
  }

  /** Counts what was written. What is left is to be sent again, for the reason `passing`. Throws what will not pass. */
  #examine(
    lines: readonly Lines[],
    { errors, items = [] }: BulkAnswer,
  ): { left: Lines[]; passing: AppError | null } {
    const left: Lines[] = [];
    let passing: AppError | null = null;
    if (!errors) {
      this.#documents += lines.length;
      return { left, passing };
    }
    for (const [at, line] of lines.entries()) {
      const status = items[at]?.index?.status ?? 500;
      if (status < 300) this.#documents++;
      else if (status === 409) this.#superseded++;
      else {
        passing = this.#failureOf(status, items[at]?.index?.error);
        if (!isPassing(passing)) throw passing;
        left.push(line);
      }
    }
    return { left, passing };
  }

  #failureOf(status: number, error: ElasticReason = {}): AppError {
    const call = { method: 'POST', path: `/${this.#index}/_bulk`, url: this.#client.url };
    return failureOfStatus(status, error, call);
  }
}

const isPassing = ({ code }: AppError): boolean =>
  code === 'search_engine_busy' || code === 'search_engine_full' || code === 'search_engine_failed';
