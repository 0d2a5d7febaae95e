import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { AppError } from '#kernel/errors/app-error.ts';
import { stageClock } from './span.ts';
import { isConnection, type TraceEvent, type TraceSink } from './stage-recorder.ts';
import type { StageSums } from './stage-sums.ts';

/**
 * Maximum length of a chunk. Events have some 200 bytes each, so a write takes microseconds, and there are a few writes
 * per second.
 */
const chunkLengthMax = 64 * 1024;
const end = '\n]\n';
/**
 * Numbers of processes, because viewers group tracks by process. They are this process, and the processes of the
 * database.
 */
const processes = { satscribe: 1, postgres: 2 } as const;

/**
 * A file in Chrome's trace event format. It is a JSON array of complete events, with one track for each thread and
 * connection. Events are written in chunks, and each write ends the array, so the file is valid JSON even after a kill.
 * A failed write (for example because the disk is full) ends the trace, but not the sync. The earlier part of the file
 * remains, and is valid too.
 */
export class TraceFile implements TraceSink {
  readonly #file: number;
  readonly #onError: (error: unknown) => void;
  readonly #startedAt = stageClock();
  readonly #tracks = new Map<string, number>();
  #chunk = '';
  /** Offset of the next event, which is before the end of the array. */
  #at = 0;
  #isOpen = true;

  private constructor(file: number, onError: (error: unknown) => void) {
    this.#file = file;
    this.#onError = onError;
    for (const [name, pid] of Object.entries(processes)) {
      this.#add({ name: 'process_name', ph: 'M', pid, tid: 0, args: { name } });
    }
  }

  /** Replaces the file and opens it. Throws `output_failed`. */
  static open(path: string, onError: (error: unknown) => void): TraceFile {
    try {
      return new TraceFile(openSync(path, 'w'), onError);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new AppError('output_failed', `The trace cannot be written: ${reason}`, { path }, error);
    }
  }

  event({ kind, name, track, from, to, details }: TraceEvent): void {
    const pid = isConnection(track) ? processes.postgres : processes.satscribe;
    const ts = this.#microseconds(from);
    const dur = this.#microseconds(to) - ts;
    this.#add({ name, cat: kind, ph: 'X', ts, dur, pid, tid: this.#trackNumber(track, pid), args: details });
  }

  /** Writes the sums as an event, because programs read them from the end of the file. Then closes the file. */
  close(sums: StageSums): void {
    const ts = this.#microseconds(stageClock());
    this.#add({ name: 'stages', ph: 'i', s: 'g', ts, pid: processes.satscribe, tid: 0, args: { ...sums } });
    this.#write();
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.#file);
  }

  /** Converts a time to whole microseconds. Spans that touch or contain each other still do so after rounding. */
  #microseconds(at: number): number {
    return Math.round((at - this.#startedAt) * 1000);
  }

  #trackNumber(track: string, pid: number): number {
    const known = this.#tracks.get(track);
    if (known !== undefined) return known;
    const tid = this.#tracks.size + 1;
    this.#tracks.set(track, tid);
    this.#add({ name: 'thread_name', ph: 'M', pid, tid, args: { name: track } });
    return tid;
  }

  #add(event: Record<string, unknown>): void {
    // the sync continues after a failed write, and events that are never written would fill the memory
    if (!this.#isOpen) return;
    this.#chunk += `${this.#at === 0 && this.#chunk === '' ? '[\n' : ',\n'}${JSON.stringify(event)}`;
    if (this.#chunk.length >= chunkLengthMax) this.#write();
  }

  #write(): void {
    if (!this.#isOpen) return;
    try {
      const bytes = Buffer.from(this.#chunk + end);
      for (let done = 0; done < bytes.length; ) {
        done += writeSync(this.#file, bytes, done, bytes.length - done, this.#at + done);
      }
      this.#at += bytes.length - end.length;
      this.#chunk = '';
    } catch (error) {
      this.#isOpen = false;
      this.#chunk = '';
      this.#endEarly();
      this.#onError(error);
    }
  }

  /**
   * Ends the array after a failed write. The disk has room for this end, because the previous write had its end at the
   * same offset.
   */
  #endEarly(): void {
    try {
      if (this.#at > 0) writeSync(this.#file, end, this.#at);
      ftruncateSync(this.#file, this.#at === 0 ? 0 : this.#at + end.length);
    } catch {
      // report only the first error
    } finally {
      closeSync(this.#file);
    }
  }
}
