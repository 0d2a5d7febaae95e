import type pg from 'pg';
import { familyCpuMs, processStat } from './process-times.ts';
import { readerTrack, writerTrack } from './span.ts';
import type { StageRecorder } from './stage-recorder.ts';
import { WatchedConnection } from './watched-connection.ts';

type OnConnect = (client: pg.ClientBase) => Promise<void>;

const watched = new WeakMap<pg.ClientBase, WatchedConnection>();

/** Names the two connections of a writer, if their statements are watched. */
export function nameConnections(writer: pg.ClientBase, reader: pg.ClientBase): void {
  const connections = [watched.get(writer), watched.get(reader)];
  for (const [at, track] of [writerTrack, readerTrack].entries()) {
    const connection = connections[at];
    if (connection === undefined) continue;
    connection.track = track;
    connection.isWriter = true;
  }
}

/**
 * Records the statements of all connections that a pool opens from now on, while the recorder is detailed.
 *
 * @param isLocal whether the server runs on this machine, so that the processor time of all its processes can be read
 */
export function watchStatements(pool: pg.Pool, recorder: StageRecorder, isLocal: boolean): void {
  let server: { readonly pid: number; readonly beforeMs: number } | null = null;
  recorder.readServer(() => {
    const now = server === null ? null : familyCpuMs(server.pid);
    return now === null || server === null ? null : now - server.beforeMs;
  });
  const watch = async (client: pg.ClientBase): Promise<void> => {
    if (!recorder.isDetailed || watched.has(client)) return;
    const pid = processOf(client);
    if (isLocal) server ??= serverOf(pid);
    const connection = new WatchedConnection(recorder, client, `connection ${pid}`);
    watched.set(client, connection);
    await connection.begin();
  };
  const { options } = pool as unknown as { readonly options: { onConnect?: OnConnect } };
  const prepare = options.onConnect;
  // the pool waits for this function before it lends the connection
  options.onConnect = async (client) => {
    await prepare?.(client);
    await watch(client);
  };
  // for connections of `connectPipelined`, whose statements follow without waiting
  pool.on('connect', (client) => void watch(client));
}

function serverOf(connection: number): { pid: number; beforeMs: number } | null {
  const pid = processStat(connection)?.parent ?? null;
  const beforeMs = pid === null ? null : familyCpuMs(pid);
  return pid === null || beforeMs === null ? null : { pid, beforeMs };
}

/** The id of the server's process that answers a connection. 0 if unknown. */
function processOf(client: pg.ClientBase): number {
  return (client as unknown as { readonly processID: number | null }).processID ?? 0;
}
