/** The part of the package `smpp` that is used here; it brings no types of its own. */
declare module "smpp" {
  import type { EventEmitter } from "node:events";
  import type { Server as NetServer } from "node:net";

  export interface ShortMessageField {
    readonly message: string | Buffer;
  }

  export interface Pdu {
    readonly command: string;
    readonly command_status: number;
    readonly message_id?: string;
    readonly source_addr?: string;
    readonly source_addr_ton?: number;
    readonly destination_addr?: string;
    readonly dest_addr_ton?: number;
    readonly system_id?: string;
    readonly password?: string;
    readonly data_coding?: number;
    readonly esm_class?: number;
    readonly registered_delivery?: number;
    readonly short_message?: ShortMessageField;
    readonly message_payload?: ShortMessageField;
    readonly receipted_message_id?: string;
    readonly message_state?: number;
    response(fields?: Readonly<Record<string, unknown>>): Pdu;
    isResponse(): boolean;
  }

  export interface Session extends EventEmitter {
    send(pdu: Pdu, onResponse?: (response: Pdu) => void): boolean;
    pause(): void;
    resume(): void;
    close(): void;
    destroy(): void;
  }

  export interface Server extends NetServer {
    readonly sessions: readonly Session[];
  }

  interface Encoding {
    match(text: string): boolean;
    encode(text: string): Buffer;
  }

  interface Smpp {
    readonly PDU: new (command: string, fields?: Readonly<Record<string, unknown>>) => Pdu;
    readonly encodings: { readonly ASCII: Encoding; readonly UCS2: Encoding };
    /** Names of the values of command_status. */
    readonly errors: Readonly<Record<string, number>>;
    connect(options: Readonly<Record<string, unknown>>): Session;
    createServer(onSession: (session: Session) => void): Server;
  }

  const smpp: Smpp;
  export default smpp;
}
