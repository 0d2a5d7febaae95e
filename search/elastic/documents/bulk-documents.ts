import type { AppError } from '#kernel/errors/app-error.ts';
import { Retry, retryClassOf } from '#kernel/retry.ts';
import type { ElasticClient } from '#search/elastic/server/elastic-client.ts';
import { type ElasticReason, failureOfStatus } from '#search/elastic/server/elastic-failure.ts';
import { writeAlias } from '#search/elastic/server/search-index.ts';
import type { SearchDocument } from './group-document.ts';

export interface BulkOptions {
  /**
   * Maximum bytes of one request. Default 4 MiB: larger requests are no faster, and the server keeps several in its
   * heap.
   */
  readonly bytesMax?: number;
  /** Maximum number of concurrent requests. Default 2: the server analyses one while the next is built here. */
  readonly requestsMax?: number;
  /** How long to retry a request while the server is busy, full or unreachable. Default: 60 s. */
  readonly budgetMs?: number;
  readonly signal?: AbortSignal;
  readonly onRetry?: (error: AppError) => void;
}

export interface BulkCounts {
  /** Number of documents that this call wrote. */
  readonly documents: number;
  /** Number of documents that were not changed because the index has a newer version. */
  readonly superseded: number;
  readonly bytes: number;
}

const defaults = { bytesMax: 4 * 1024 * 1024, requestsMax: 2, budgetMs: 60_000 };

/** A document in the two lines of the bulk format. */
type Lines = string;

interface BulkItem {
  readonly index?: { readonly status: number; readonly error?: ElasticReason };
}

interface BulkAnswer {
  readonly errors: boolean;
  readonly items?: readonly BulkItem[];
}

/**
 * Writes documents into an index: requests of a few megabytes, several in flight. Writing the same document twice is
 * safe, because an equal version overwrites itself and a newer version is kept. If the server has no room for a
 * document, the document is sent again alone after a pause. Throws the error of the first document that the server
 * refused for good; others may have been written by then. Nothing is visible before `refreshIndex`.
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

  /** Starts a request once fewer than `requestsMax` are running. Throws the error of an earlier request. */
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

  /**
   * Counts the written documents. Returns the documents that must be sent again because of temporary failures. Throws
   * failures that a retry cannot fix.
   */
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
        if (retryClassOf(passing.code) !== 'soon') throw passing;
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
