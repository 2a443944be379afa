// The form of an enrolment code, which a join link has in its fragment. Any thread.

const CODE = /^[A-Za-z0-9_.~-]{1,200}$/;

export function isEnrolmentCode(value: unknown): value is string {
  return typeof value === "string" && CODE.test(value);
}
