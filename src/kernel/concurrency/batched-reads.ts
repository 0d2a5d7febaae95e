interface Waiting<Question, Answer> {
  readonly question: Question;
  readonly signal: AbortSignal;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
}

/** Bounds of reads in batches. */
export interface BatchBounds {
  /** Batches that are read at the same time. */
  readonly batches: number;
  /** Questions of one batch. */
  readonly questions: number;
}

/**
 * Reads for many askers, in batches. A question that comes while enough batches are read waits, and is read with all
 * that came meanwhile. So a question alone does not wait, and under load a read serves as many as came in its time. A
 * batch begins after all its questions were asked.
 */
export class BatchedReads<Question, Answer> {
  readonly #read: (questions: readonly Question[]) => Promise<readonly Answer[]>;
  readonly #bounds: BatchBounds;
  readonly #waiting: Waiting<Question, Answer>[] = [];
  #running = 0;
  #isStartAwaited = false;

  /** @param read answers in the order of the questions */
  constructor(read: (questions: readonly Question[]) => Promise<readonly Answer[]>, bounds: BatchBounds) {
    this.#read = read;
    this.#bounds = bounds;
  }

  /** Rejects as the read of its batch does, or with the reason of the signal, if that is aborted before it begins. */
  ask(question: Question, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, signal, resolve, reject });
      this.#start();
    });
  }

  /** Begins after this turn of the event loop: requests that arrived in it are read together. */
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

  /** The next batch, without those who have left. */
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
    try {
      const answers = await this.#read(batch.map(({ question }) => question));
      if (answers.length !== batch.length)
        throw new RangeError(`${answers.length} answers to ${batch.length} questions`);
      for (const [place, { resolve }] of batch.entries()) resolve(answers[place] as Answer);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.#running--;
      this.#start();
    }
  }
}
