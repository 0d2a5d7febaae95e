/** The values from which the server's settings are computed. */
export interface ServerSettingsInput {
  readonly port: number;
  /** Memory of this machine or container, in bytes. */
  readonly memoryBytes: number;
  /** Free bytes of /dev/shm. 0 if it cannot be used. */
  readonly sharedMemoryBytes: number;
  /** False only for temporary databases: those of tests, and that of the schema dump. */
  readonly durable: boolean;
}

const megabyte = 1024 * 1024;

/**
 * Minimum size of /dev/shm, in bytes. Parallel index builds keep their sort states there, and Docker's default of 64 MB
 * is not enough.
 */
const sharedMemoryNeededBytes = 512 * megabyte;

/**
 * Chooses the type of shared memory. Files in the data folder always work; /dev/shm is faster if it is large enough.
 */
export function sharedMemoryType(sharedMemoryBytes: number): 'posix' | 'mmap' {
  return sharedMemoryBytes >= sharedMemoryNeededBytes ? 'posix' : 'mmap';
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, Math.floor(value)));
}

/**
 * Computes the size of shared_buffers. Each transfer of a block reads a random page of four indexes: 100 bytes per
 * tracked output. For a page that is not in memory, the block waits until the page is read, and until a changed page is
 * written out. That was a third of the time at 10,000,000 tracked outputs with 512 MB
 * (docs/adr/0016-memory-of-the-embedded-server.md).
 *
 * 1/8 of the memory leaves the rest to the system's cache and to Node. The maximum of 4 GB is enough for those indexes
 * with 40,000,000 tracked outputs, and limits how much a stop has to write. Temporary servers are small, because often
 * many of them run on one machine.
 */
function sharedBuffersMb(memoryMb: number, durable: boolean): number {
  return durable ? clamp(memoryMb / 8, 128, 4096) : clamp(memoryMb / 16, 128, 512);
}

/**
 * Settings for bulk loads by one writer on a small machine. Checkpoints are few and large, index builds are parallel,
 * and commits are durable. No WAL is written for data that a COPY or an index build can repeat (wal_level minimal),
 * because an embedded server has no replicas. The server cannot be reached from other machines.
 */
export function serverSettings(input: ServerSettingsInput): Readonly<Record<string, string>> {
  const memoryMb = input.memoryBytes / megabyte;
  return {
    listen_addresses: '127.0.0.1',
    port: String(input.port),
    unix_socket_directories: '',
    // tests need more connections, because they run several services at once
    max_connections: input.durable ? '60' : '100',
    password_encryption: 'scram-sha-256',
    shared_buffers: `${sharedBuffersMb(memoryMb, input.durable)}MB`,
    // Write changed pages early, up to 200 MB/s. With the default of 4 MB/s, a block would have to wait for free
    // buffers.
    bgwriter_delay: '20ms',
    bgwriter_lru_maxpages: '500',
    bgwriter_lru_multiplier: '4',
    effective_cache_size: `${clamp(memoryMb / 2, 256, 65_536)}MB`,
    work_mem: `${clamp(memoryMb / 256, 8, 32)}MB`,
    maintenance_work_mem: `${clamp(memoryMb / 32, 64, 512)}MB`,
    autovacuum_work_mem: '64MB',
    max_parallel_maintenance_workers: '2',
    dynamic_shared_memory_type: sharedMemoryType(input.sharedMemoryBytes),
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_wal_size: '4GB',
    min_wal_size: '256MB',
    checkpoint_timeout: '15min',
    checkpoint_completion_target: '0.9',
    random_page_cost: '1.1',
    jit: 'off',
    fsync: input.durable ? 'on' : 'off',
    synchronous_commit: input.durable ? 'on' : 'off',
    full_page_writes: input.durable ? 'on' : 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    log_destination: 'stderr',
    logging_collector: 'off',
    log_checkpoints: 'off',
    log_min_messages: 'warning',
    log_line_prefix: '%m [%p] ',
  };
}

/** Returns the text of postgresql.conf. */
export function renderSettings(settings: Readonly<Record<string, string>>): string {
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`);
  return `# Written by satscribe at every start of the server: changes here are lost.\n${lines.join('\n')}\n`;
}
