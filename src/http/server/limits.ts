/** Bounds on the size and duration of requests, each with its reason. docs/http.md shows them. */
export const limits = {
  /**
   * Request line and headers together, in bytes; beyond it Node answers 431. A valid needle of 1,000 characters takes
   * up to 12,000 bytes in a URL (four UTF-8 bytes, three characters each), so Node's own 16 KiB is too little.
   */
  headerBytes: 64 * 1024,
  /** A URL, in bytes: two needles of the largest size, and room for what proxies and clients add. */
  urlBytes: 32 * 1024,
  /**
   * A header that is a list (`accept`, `if-none-match`, and others); a longer one counts as not sent. Browsers send 150
   * bytes, and a cache names a few entity tags of 33. A list of 60 kB of commas takes the event loop 10 ms in each
   * reader.
   */
  listHeaderChars: 1024,
  /** Parameters of a query. No path has more than 30, and 5,000 take the event loop 2 ms. */
  queryParameters: 100,
  /** A body: 10,000 hashes of 64 digits as JSON take 670 kB. A route with larger bodies names one of `bodyLimits`. */
  bodyBytes: 1024 * 1024,
  /** Larger bodies need a place, and a thread parses them: 1 MiB takes the event loop 5 to 10 ms. */
  largeBodyBytes: 1024 * 1024,
  /** Large bodies of one client: a program sends the next list while the previous answer arrives. */
  largeBodiesEach: 2,
  /** Large bodies of all clients. Each holds a connection and looks up thousands of rows. */
  largeBodies: 32,
  /** Bytes that every body may hold without room: 64 MB for all connections. Most bodies are far smaller. */
  freeBodyBytes: 64 * 1024,
  /**
   * Bytes of all bodies that are being read, parsed or answered, and of one client's bodies, which is the largest body.
   * Besides them the thread holds four times the body that it parses. Three orders of 50 MB, which are 67 MB as base64,
   * fit: a fourth took the process above 900 MB.
   */
  bodyRoom: { totalBytes: 210_000_000, eachBytes: 100_000_000 },
  /** Hashes in one request. */
  hashes: 10_000,
  /** Milliseconds until the headers are complete, and until the whole request is, whatever its size. */
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 600_000,
  /**
   * Milliseconds between checks of these times: with Node's 30 s, headers could take 45 s. Each check walks the open
   * requests.
   */
  connectionsCheckMs: 5_000,
  /**
   * Milliseconds after which a body must have arrived at this average rate (bytes per second). A body that is not large
   * must then be complete: 1 MiB takes less than 30 s at this rate.
   */
  bodyPatienceMs: 30_000,
  bodyRate: 64_000,
  /** Milliseconds without any data on a connection, also of a slow reader. */
  idleTimeoutMs: 60_000,
  /** Concurrent connections; each can hold a body in memory. CONNECTIONS sets another number. */
  connections: 1_000,
  /**
   * Connections of one address: some thirty browsers with six connections each. Five addresses take all places, and
   * then their idle connections give way. CONNECTIONS_PER_ADDRESS sets another number.
   */
  connectionsEach: 200,
  /** Connections that Node still counts while it closes them, which takes a turn of the event loop. */
  connectionsClosing: 100,
  /**
   * Requests of all clients that are being answered. Ten connections to the database, four more for contents, and one
   * event loop serve them: more requests would only hold memory while they wait for each other.
   */
  requests: 32,
  /**
   * Requests of one client, so that two connections to the database are left for others: each request takes one at a
   * time.
   */
  requestsEach: 8,
  /**
   * Dear requests of one client while others ask too; each takes the event loop or the database tens of milliseconds.
   * With two, one is made while the other waits for the database.
   */
  dearRequestsBesideOthers: 2,
  /**
   * Rest after a further piece of a long content, a stream or an export while others ask too, as a multiple of the time
   * that it took: pieces without rests would take all of the event loop and of a core of the database.
   */
  restsBesideOthers: 3,
  /**
   * Requests that start in one turn of the event loop, each with half a millisecond of work: the 200 connections of one
   * address may all send at once.
   */
  requestsATurn: 4,
  /** Requests that wait for a turn: each connection has at most one. */
  requestsWaiting: 1_000,
  /**
   * The longest wait for a place, which is the longest time of a statement: a client with many requests waits for its
   * own. A dear request waits for two places, one after the other, so at most twice as long.
   */
  requestWaitMs: 30_000,
  /** Unsent bytes of answers of all clients: an eighth of a heap of 1 GB. UNSENT_MEGABYTES sets another number. */
  unsentBytes: 128_000_000,
  /** Unsent bytes of one client: two of the largest answers. Four clients take all room. */
  unsentBytesEach: 32_000_000,
  /**
   * Bytes below which an answer does not count: each connection has at most one, so 32 MB together. The operating
   * system takes most of them at once.
   */
  smallAnswerBytes: 32 * 1024,
  /**
   * Answers that are compressed at the same time while their clients take them, each with 0.9 MB of brotli's state: 58
   * MB. Further answers are sent uncompressed.
   */
  compressedAnswers: 64,
  /** Such answers of one client: two browsers with all their connections. Four clients take all places. */
  compressedAnswersEach: 16,
  /**
   * Milliseconds after which a client must have taken bytes at this average rate (bytes per second). A slow mobile
   * network has 8 kB/s, and the operating system buffers some megabytes on top. An answer of 4 MB then takes eight
   * minutes.
   */
  readPatienceMs: 30_000,
  readRate: 8_000,
  /** The same time while unsent answers take more than half of their room. */
  pressedReadPatienceMs: 5_000,
  pressedReadRate: 64_000,
  /**
   * Concurrent streams of events. Each holds one page in memory, usually 1 MB, and reads every block itself: a block of
   * 5,000 events costs about 10 ms per stream.
   */
  eventStreams: 100,
  /** Streams of one client: a few programs with one address. Five clients take all places. */
  eventStreamsEach: 20,
  /**
   * Open live pages, which show news as they happen. Each holds a connection; half of all connections are left for
   * other requests.
   */
  liveStreams: 500,
  /** Live pages of one client: some thirty browsers with one address, each with the page that it shows. */
  liveStreamsEach: 40,
  /**
   * Exports of sales that are being sent. Each holds the places of its sales (12 MB for a million), and two parts of
   * some hundred kilobytes.
   */
  saleExports: 8,
  /** Exports of one client. Four clients take all places. */
  saleExportsEach: 2,
  /**
   * Milliseconds: longer than the 60 s of common load balancers, so that they close first and never send a request to a
   * closed socket.
   */
  keepAliveTimeoutMs: 72_000,
  /**
   * The mean delay of the event loop over a sample. One turn takes milliseconds; the 99th percentile during a first
   * sync is 50 ms. At a mean of one second each request waits for several seconds, and accepting more makes it worse.
   * The sample is long, so that a single long turn (start, garbage collection, a busy machine) has no effect.
   */
  eventLoopDelayMs: 1_000,
  eventLoopSampleMs: 5_000,
  /** A parameter in a path: the longest is a needle in `/search/<query>`. */
  pathParameterChars: 4_000,
} as const;

/** Options of Node's server. */
export const serverOptions = {
  maxHeaderSize: limits.headerBytes,
  headersTimeout: limits.headersTimeoutMs,
  connectionsCheckingInterval: limits.connectionsCheckMs,
} as const;

/** Bounds of brackets, commas and colons of a body, and of levels, which parsing and copying recurse into. */
export const bodyStructure = {
  /**
   * 10,000 hashes with their brackets and commas. 4,000 objects that all differ take the event loop 5 ms, 100,000 a
   * second.
   */
  small: { marks: 12_000, depth: 500 },
  /**
   * For routes that take large bodies. If the parsed JSON outgrows the heap, V8 ends the process, not the thread: 100
   * MB of brackets would take gigabytes. 10,000 files with all their fields have 400,000.
   */
  large: { marks: 1_000_000, depth: 500 },
} as const;

/** Bytes of bodies, for routes that take more or less than `limits.bodyBytes`. */
export const bodyLimits = {
  /** A key, and a path of 32 kB with every byte percent-encoded. */
  key: 128 * 1024,
  /** ord accepts posted JSON up to 32 MiB (server.rs): 460,000 ids. */
  batch: 32 * 1024 * 1024,
  /** A collection with its phases and their allow lists. */
  collection: 8_000_000,
  /** Two PSBTs of the largest size in hex (src/psbts/bytes/psbt-text.ts): most payments have two signers. */
  psbts: 4_200_000,
  /** Orders: files of 50 MB in all, which are 67 MB as base64, and their fields. */
  order: 100_000_000,
} as const;
