/** Client of the Posthaste API. README.md beside this folder shows its use. */
export type { Answer, Call, PagedCall } from "./call.ts";
export { Posthaste } from "./client.ts";
export { type FieldError, PosthasteError, type PosthasteErrorCode } from "./errors.ts";
export type { paths } from "./generated.ts";
export type { Job, WaitOptions, WatchOptions } from "./jobs.ts";
export type { Operations } from "./operations.ts";
export type { PosthasteOptions } from "./send.ts";
export type { Body, CallOptions, Data, OperationId, Query, Schema } from "./shapes.ts";
export type { Upload } from "./upload.ts";
export {
  verifyWebhook,
  type WebhookEvent,
  type WebhookEventType,
  type WebhookHeaders,
  type WebhookRequest,
  WebhookVerificationError,
} from "./webhooks.ts";
