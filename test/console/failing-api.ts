/** An API that answers every request with a failure of the service. */
import type { Route } from "playwright-core";

/** The sentence of the API, which pages show. */
export const failure = "The database gives no answer. Try again in a minute.";
const requestId = "0190a1b2-0000-7000-8000-00000000beef";

/** Every request of the API except the session, which the frame of all pages needs. */
export const allButTheSession = /\/api\/v1\/(?!session$)/;
/** Without these two the frame does not appear. */
export const allButTheFrame = /\/api\/v1\/(?!session$|sign-in\/options$)/;

export function failing(route: Route): Promise<void> {
  return route.fulfill({
    status: 500,
    contentType: "application/json",
    headers: { "X-Request-Id": requestId },
    body: JSON.stringify({ success: false, error: failure, code: "INTERNAL_ERROR", request_id: requestId }),
  });
}
