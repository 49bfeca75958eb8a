/** The parts of the service. A machine runs all of them, or those that its command line names. */
export const roles = ["api", "delivery", "jobs", "inbound"] as const;

export type Role = (typeof roles)[number];
