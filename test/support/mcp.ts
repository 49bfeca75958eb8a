/** The official client of the Model Context Protocol, as AI assistants use it. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { onTestFinished } from "vitest";
import type { ApiAnswer } from "./api-caller.ts";

/** Connects over HTTP with an API key until the end of the test. @param query such as `?tools=all` */
export async function connectMcp(url: string, key: string, query = ""): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp${query}`), {
    requestInit: { headers: { Authorization: `Bearer ${key}`, "User-Agent": "an assistant" } },
  });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  onTestFinished(() => client.close());
  return client;
}

export interface ToolAnswer {
  readonly isError: boolean;
  readonly text: string;
  /** Untyped: each test knows which shape it asked for. */
  readonly content: ApiAnswer["body"];
}

export async function callTool(client: Client, name: string, input: Readonly<Record<string, unknown>> = {}) {
  const result = (await client.callTool({ name, arguments: input })) as CallToolResult;
  const [first] = result.content;
  const answer: ToolAnswer = {
    isError: result.isError === true,
    text: first?.type === "text" ? first.text : "",
    content: result.structuredContent,
  };
  return answer;
}

export async function toolNames(client: Client): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}
