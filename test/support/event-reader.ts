/** Reads a stream of server-sent events as a client does. */
import { eventually } from "./eventually.ts";

export interface ReceivedEvent {
  readonly name: string;
  readonly id: string | undefined;
  /** Parsed JSON. Untyped: each test knows which shape it asked for. */
  readonly data: ReturnType<typeof JSON.parse>;
  readonly at: number;
}

export class EventReader {
  readonly response: Response;
  readonly events: ReceivedEvent[] = [];
  readonly comments: string[] = [];
  hasEnded = false;
  readonly #abort: AbortController;
  #taken = 0;

  static async open(
    url: string,
    { key, headers = {} }: { readonly key?: string; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<EventReader> {
    const abort = new AbortController();
    const response = await fetch(url, {
      headers: { ...(key !== undefined && { "X-API-Key": key }), ...headers },
      signal: abort.signal,
    });
    return new EventReader(response, abort);
  }

  private constructor(response: Response, abort: AbortController) {
    this.response = response;
    this.#abort = abort;
    void this.#read()
      .catch(() => {})
      .finally(() => {
        this.hasEnded = true;
      });
  }

  /** The next event with this name, and that `is` accepts. */
  next(
    name: string,
    is: (data: ReceivedEvent["data"]) => boolean = () => true,
    deadlineMs?: number,
  ): Promise<ReceivedEvent> {
    return eventually(
      `the event ${name}`,
      async () => {
        while (this.#taken < this.events.length) {
          const event = this.events[this.#taken];
          this.#taken += 1;
          if (event !== undefined && event.name === name && is(event.data)) return event;
        }
        return undefined;
      },
      deadlineMs,
    );
  }

  close(): void {
    this.#abort.abort();
  }

  async #read(): Promise<void> {
    let rest = "";
    const decoder = new TextDecoder();
    for await (const piece of this.response.body ?? []) {
      rest += decoder.decode(piece as Uint8Array, { stream: true });
      const blocks = rest.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) this.#take(block);
    }
  }

  #take(block: string): void {
    const fields = new Map<string, string>();
    for (const line of block.split("\n")) {
      if (line.startsWith(":")) this.comments.push(line);
      const at = line.indexOf(": ");
      if (at > 0) fields.set(line.slice(0, at), line.slice(at + 2));
    }
    const name = fields.get("event");
    if (name === undefined) return;
    const data = JSON.parse(fields.get("data") ?? "null");
    this.events.push({ name, id: fields.get("id"), data, at: performance.now() });
  }
}
