/** The section `webhooks` of openapi.json: the events that the service sends, with the shapes of their bodies. */
import { type TSchema, Type } from "typebox";
import { described } from "#platform/shapes.ts";
import { type Components, type Json, refTo } from "./openapi-components.ts";

export const EVENTS_TAG = "Events";

/** The events as requests that receivers get: `MessageBouncedEvent` is the body of `message.bounced`. */
export function webhooksOf(events: Readonly<Record<string, TSchema>>, components: Components): Json {
  return Object.fromEntries(
    Object.entries(events).map(([type, data]) => {
      const name = type.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());
      const event = Type.Object(
        {
          type: Type.Literal(type, { description: "The event." }),
          timestamp: Type.String({ format: "date-time", description: "When it happened, in UTC." }),
          data: described(data, "What happened."),
        },
        { $id: `${name}Event`, description: `The body of the event \`${type}\`.` },
      );
      const post = {
        operationId: `on${name}`,
        summary: `Event ${type}`,
        description: `Sent to webhooks that listen to \`${type}\`, at least once. Answer any 2xx within ten seconds.`,
        tags: [EVENTS_TAG],
        security: [],
        parameters: ["webhook-id", "webhook-timestamp", "webhook-signature"].map((header) =>
          refTo("parameters", header),
        ),
        requestBody: {
          required: true,
          description: "The event.",
          content: { "application/json": { schema: components.schema(event) } },
        },
        responses: {
          "2XX": { description: "The event was received." },
          "4XX": { description: "Any other answer is a failure: the event is sent again later." },
        },
      };
      return [type, { post }];
    }),
  );
}

/** Headers of every event. */
export const eventHeaders = {
  "webhook-id": {
    name: "webhook-id",
    in: "header",
    required: true,
    description: "Id of the event, the same in every retry: ignore an id that you have seen.",
    schema: { type: "string", format: "uuid" },
  },
  "webhook-timestamp": {
    name: "webhook-timestamp",
    in: "header",
    required: true,
    description: "Time of this attempt in Unix seconds; refuse requests that are older than five minutes.",
    schema: { type: "string", pattern: "^[0-9]+$" },
  },
  "webhook-signature": {
    name: "webhook-signature",
    in: "header",
    required: true,
    description:
      "`v1,` and the Base64 of HMAC-SHA256 over `id.timestamp.body`; several are separated by spaces, and one has to match.",
    schema: { type: "string" },
  },
};
