import type { NetworkName } from '#kernel/primitives/network.ts';

/** How this service authenticates itself. If the node refuses the content of a cookie file, the file is read again. */
export type NodeAuth =
  | { readonly kind: 'none' }
  | { readonly kind: 'cookie'; readonly file: string }
  | { readonly kind: 'password'; readonly user: string; readonly password: string };

/** URLs of a node, and how to authenticate. A user and password in `rpcUrl` are used if `auth.kind` is `none`. */
export interface NodeSettings {
  readonly rpcUrl: string;
  /** URL of REST. If it is absent, the RPC URL is used. */
  readonly restUrl?: string | undefined;
  readonly auth: NodeAuth;
  /** One ZMQ endpoint for all topics. If it is absent, the node is asked for its endpoints. */
  readonly zmq?: string | undefined;
  /** The expected network. A node of another network is refused. */
  readonly network?: NetworkName | undefined;
}
