interface Waiting<Question, Answer> {
  readonly question: Question;
  readonly signal: AbortSignal;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
}

/** Limits of reads in batches. */
export interface BatchBounds {
  /** Maximum number of batches that are read at the same time. */
  readonly batches: number;
  /** Maximum number of queries in one batch. */
  readonly questions: number;
}

/** Answers queries in their order. The signal is aborted when all clients of the batch have left. */
type ReadBatch<Question, Answer> = (
  questions: readonly Question[],
  signal: AbortSignal,
) => Promise<readonly Answer[]>;

/**
 * Reads for many clients, in batches. A query that arrives while the maximum number of batches are being read must
 * wait, and is then read together with all other waiting queries. So a single query does not wait, and under load each
 * read serves many queries. A batch begins after all its queries arrived.
 */
export class BatchedReads<Question, Answer> {
  readonly #read: ReadBatch<Question, Answer>;
  readonly #bounds: BatchBounds;
  readonly #waiting: Waiting<Question, Answer>[] = [];
  #running = 0;
  #isStartAwaited = false;

  constructor(read: ReadBatch<Question, Answer>, bounds: BatchBounds) {
    this.#read = read;
    this.#bounds = bounds;
  }

  /**
   * Adds a query. Rejects if the read of the batch rejects, or with the reason of the signal if the signal is aborted
   * before the read begins.
   */
  ask(question: Question, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, signal, resolve, reject });
      this.#start();
    });
  }

  /**
   * Begins a batch after this turn of the event loop, so that requests that arrive in the same turn are read together.
   */
  #start(): void {
    if (this.#isStartAwaited || this.#running === this.#bounds.batches || this.#waiting.length === 0) return;
    this.#isStartAwaited = true;
    setImmediate(() => {
      this.#isStartAwaited = false;
      const batch = this.#take();
      if (batch.length > 0) void this.#readBatch(batch);
      this.#start();
    });
  }

  /** Returns the next batch, without clients that have left. */
  #take(): Waiting<Question, Answer>[] {
    const batch: Waiting<Question, Answer>[] = [];
    while (batch.length < this.#bounds.questions) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      if (next.signal.aborted) next.reject(next.signal.reason);
      else batch.push(next);
    }
    return batch;
  }

  async #readBatch(batch: readonly Waiting<Question, Answer>[]): Promise<void> {
    this.#running++;
    const watch = new AllLeft(batch.map(({ signal }) => signal));
    try {
      const questions = batch.map(({ question }) => question);
      const answers = await this.#read(questions, watch.signal);
      if (answers.length !== batch.length)
        throw new RangeError(`${answers.length} answers to ${batch.length} questions`);
      for (const [place, { resolve }] of batch.entries()) resolve(answers[place] as Answer);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      watch.end();
      this.#running--;
      this.#start();
    }
  }
}

/** A signal that is aborted when all given signals are aborted. */
class AllLeft {
  readonly #controller = new AbortController();
  /** Each signal once, because a client may wait twice. */
  readonly #watched: ReadonlySet<AbortSignal>;
  #staying: number;

  constructor(signals: readonly AbortSignal[]) {
    this.#watched = new Set(signals);
    this.#staying = this.#watched.size;
    for (const signal of this.#watched) signal.addEventListener('abort', this.#leave, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  readonly #leave = ({ target }: Event): void => {
    this.#staying--;
    if (this.#staying === 0) this.#controller.abort((target as AbortSignal).reason);
  };

  end(): void {
    for (const signal of this.#watched) signal.removeEventListener('abort', this.#leave);
  }
}
