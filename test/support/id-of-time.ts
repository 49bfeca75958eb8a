/** Ids of messages that are older or newer than the test. */
import { firstIdAt, newId } from "#platform/ids.ts";

/** A new id (UUID of version 7) of that time. */
export const idOfTime = (time: Date): string => `${firstIdAt(time).slice(0, 14)}7${newId().slice(15)}`;
