/** Limits of the size, number and duration of requests, each with its reason. docs/http.md shows them. */
export const limits = {
  /**
   * Maximum number of bytes of the request line and headers together. Above this number, Node answers 431. A valid
   * needle of 1,000 characters takes up to 12,000 bytes in a URL, because a character has up to four UTF-8 bytes, and
   * each of them takes three characters. So Node's own 16 KiB is too little.
   */
  headerBytes: 64 * 1024,
  /**
   * Maximum number of bytes of a URL. Two needles of the largest size fit, with room for additions of proxies and
   * clients.
   */
  urlBytes: 32 * 1024,
  /**
   * Maximum number of characters of a header that is a list (`accept`, `if-none-match`, and others). A longer header is
   * treated as not sent. Browsers send 150 bytes, and a cache names a few entity tags of 33 bytes. A list of 60 kB of
   * commas takes the event loop 10 ms in each function that splits the list.
   */
  listHeaderChars: 1024,
  /**
   * Maximum number of parameters of a query. No path has more than 30 parameters, and 5,000 take the event loop 2 ms.
   */
  queryParameters: 100,
  /**
   * Maximum number of bytes of a body. 10,000 hashes of 64 digits as JSON take 670 kB. A route with larger bodies uses
   * one of `bodyLimits`.
   */
  bodyBytes: 1024 * 1024,
  /**
   * Size in bytes above which a body counts in `largeBodies`, and is parsed by a thread. The event loop would take 5 to
   * 10 ms to parse 1 MiB.
   */
  largeBodyBytes: 1024 * 1024,
  /**
   * Maximum number of large bodies of one client. With two bodies, a program can send the next list while the previous
   * answer arrives.
   */
  largeBodiesEach: 2,
  /** Maximum number of large bodies of all clients. Each body holds a connection and reads thousands of rows. */
  largeBodies: 32,
  /**
   * Number of bytes that every body may hold without counting in `bodyRoom`. All connections together hold 64 MB at
   * most. Most bodies are far smaller.
   */
  freeBodyBytes: 64 * 1024,
  /**
   * Maximum number of bytes of all bodies that are being read, parsed or answered, and of the bodies of one client. One
   * client's maximum is the size of the largest body. In addition, the thread holds up to four times the body that it
   * parses, if long texts of the body have escapes or are not ASCII (plain-texts.ts). Three orders of 50 MB fit, each
   * with 67 MB as base64.
   */
  bodyRoom: { totalBytes: 210_000_000, eachBytes: 100_000_000 },
  /** Maximum number of hashes in one request. */
  hashes: 10_000,
  /** Maximum time until the headers are complete, and maximum time until a request of any size is complete, in ms. */
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 600_000,
  /**
   * How often these two times are checked, in ms. With Node's default of 30 s, headers could take 45 s. Each check
   * walks over the open requests.
   */
  connectionsCheckMs: 5_000,
  /**
   * Time in ms after which a body must have arrived at least at this average rate (bytes per second). A body that is
   * not large must be complete after this time, because 1 MiB takes less than 30 s at this rate.
   */
  bodyPatienceMs: 30_000,
  bodyRate: 64_000,
  /** How long a connection may have no data at all, also if its reader is slow, in ms. */
  idleTimeoutMs: 60_000,
  /**
   * Maximum number of concurrent connections. Each connection can hold a body in memory. CONNECTIONS sets another
   * number.
   */
  connections: 1_000,
  /**
   * Maximum number of connections of one IP address. It is enough for some thirty browsers with six connections each.
   * If five addresses use all connections, new connections replace their idle connections. CONNECTIONS_PER_ADDRESS sets
   * another number.
   */
  connectionsEach: 200,
  /**
   * Maximum number of connections that Node still counts while it closes them. Closing takes a turn of the event loop.
   */
  connectionsClosing: 100,
  /**
   * Maximum number of requests of all clients that are being answered. Ten connections to the database, four more for
   * contents, and one event loop serve these requests, so more requests would only hold memory while they wait.
   */
  requests: 32,
  /**
   * Maximum number of requests of one client that are being answered. Each request uses one connection to the database
   * at a time, so two connections are left for other clients.
   */
  requestsEach: 8,
  /**
   * Maximum number of expensive requests of one client while other clients are active. Each request takes the event
   * loop or the database tens of milliseconds. With two requests, the event loop works for one while the other waits
   * for the database.
   */
  dearRequestsBesideOthers: 2,
  /**
   * Length of a pause, as a multiple of the time that a piece took. While other clients are active, there is a pause
   * after each further piece of a long content, a stream or an export. Without pauses, pieces would keep the event loop
   * and one core of the database busy all the time.
   */
  restsBesideOthers: 3,
  /**
   * Maximum number of requests that start in one turn of the event loop, each with half a millisecond of work. Without
   * this limit, the 200 connections of one IP address could start all their requests in one turn.
   */
  requestsATurn: 4,
  /** Maximum number of requests that wait to be answered. Each connection has at most one such request. */
  requestsWaiting: 1_000,
  /**
   * How long a request waits for other requests to end at most, in ms. It equals the maximum time of a statement,
   * because a client with many requests waits for its own statements. An expensive request has two such waits, one
   * after the other, so it waits at most twice as long.
   */
  requestWaitMs: 30_000,
  /**
   * Maximum number of unsent bytes of answers of all clients. It is an eighth of a heap of 1 GB. UNSENT_MEGABYTES sets
   * another number.
   */
  unsentBytes: 128_000_000,
  /**
   * Maximum number of unsent bytes of one client. It is enough for two of the largest answers. Four clients can use up
   * `unsentBytes`.
   */
  unsentBytesEach: 32_000_000,
  /**
   * Maximum size of an answer that does not count as unsent, in bytes. Each connection has at most one answer, so all
   * such answers take 32 MB at most. The operating system accepts most of these bytes immediately.
   */
  smallAnswerBytes: 32 * 1024,
  /**
   * Maximum number of answers that are compressed at the same time, until their clients have received them. Each answer
   * holds 0.9 MB of brotli's state, so all answers hold 58 MB. Further answers are sent uncompressed.
   */
  compressedAnswers: 64,
  /**
   * Maximum number of compressed answers of one client at the same time. It is enough for two browsers with all their
   * connections. Four clients can use up `compressedAnswers`.
   */
  compressedAnswersEach: 16,
  /**
   * Time in ms after which a client must have received bytes at least at this average rate (bytes per second). A slow
   * mobile network has 8 kB/s, and the operating system buffers some megabytes on top. An answer of 4 MB then takes
   * eight minutes.
   */
  readPatienceMs: 30_000,
  readRate: 8_000,
  /** Values in place of `readPatienceMs` and `readRate` while more than half of `unsentBytes` is used. */
  pressedReadPatienceMs: 5_000,
  pressedReadRate: 64_000,
  /**
   * Maximum number of concurrent streams of events. Each stream holds one page in memory, usually 1 MB, and reads every
   * block itself. A block of 5,000 events takes about 10 ms per stream.
   */
  eventStreams: 100,
  /**
   * Maximum number of streams of one client. It is enough for a few programs with one IP address. Five clients can use
   * up `eventStreams`.
   */
  eventStreamsEach: 20,
  /** Maximum number of requests that wait for findings of watches. Each holds a connection. */
  findingWaits: 100,
  /** Maximum number of these requests of one client, as of streams. */
  findingWaitsEach: 20,
  /**
   * Maximum number of open live pages, which show news as they happen. Each page holds a connection, so half of all
   * connections are left for other requests.
   */
  liveStreams: 500,
  /**
   * Maximum number of live pages of one client. It is enough for some thirty browsers with one IP address, each with
   * one page in view.
   */
  liveStreamsEach: 40,
  /**
   * Maximum number of exports of sales that are being sent. Each export holds the positions of its sales (12 MB for a
   * million sales), and two parts of some hundred kilobytes.
   */
  saleExports: 8,
  /** Maximum number of exports of one client. Four clients can use up `saleExports`. */
  saleExportsEach: 2,
  /**
   * How long an idle connection is kept open, in ms. It is longer than the 60 s of common load balancers. So load
   * balancers close their connections first, and never send a request to a closed socket.
   */
  keepAliveTimeoutMs: 72_000,
  /**
   * Mean delay of the event loop above which requests are refused, and the sample over which the mean is taken, in ms.
   * One turn takes milliseconds; the 99th percentile during a first sync is 50 ms. At a mean of one second, each
   * request waits for several seconds, and accepting more requests would increase the delay. The sample is long, so
   * that a single long turn (start, garbage collection, a busy machine) has no effect.
   */
  eventLoopDelayMs: 1_000,
  eventLoopSampleMs: 5_000,
  /** Maximum number of characters of a parameter in a path. The longest parameter is a needle in `/search/<query>`. */
  pathParameterChars: 4_000,
} as const;

/** Options of Node's server. */
export const serverOptions = {
  maxHeaderSize: limits.headerBytes,
  headersTimeout: limits.headersTimeoutMs,
  connectionsCheckingInterval: limits.connectionsCheckMs,
} as const;

/**
 * Maximum number of brackets, commas and colons of a body (`marks`), and maximum number of nested levels (`depth`),
 * because parsing and copying recurse into each level.
 */
export const bodyStructure = {
  /**
   * Bounds for routes with small bodies. 10,000 hashes with their brackets and commas fit. 4,000 objects that all
   * differ take the event loop 5 ms, and 100,000 objects take one second.
   */
  small: { marks: 12_000, depth: 500 },
  /**
   * Bounds for routes that accept large bodies. If the parsed JSON outgrows the heap, V8 ends the entire process, not
   * only the thread, and 100 MB of brackets would take gigabytes. 10,000 files with all their fields have 400,000
   * marks.
   */
  large: { marks: 1_000_000, depth: 500 },
} as const;

/** Maximum number of bytes of bodies, for routes that accept more or less than `limits.bodyBytes`. */
export const bodyLimits = {
  /** Enough for a key, and a path of 32 kB in which every byte is percent-encoded. */
  key: 128 * 1024,
  /** ord accepts posted JSON up to 32 MiB (server.rs), which is enough for 460,000 ids. */
  batch: 32 * 1024 * 1024,
  /** Enough for a collection with its phases and their allow lists. */
  collection: 8_000_000,
  /**
   * Enough for two PSBTs of the largest size in hex (src/psbts/bytes/psbt-text.ts), because most payments have two
   * signers.
   */
  psbts: 4_200_000,
  /** Enough for the fields of an order, and its files of 50 MB in all, which are 67 MB as base64. */
  order: 100_000_000,
} as const;
