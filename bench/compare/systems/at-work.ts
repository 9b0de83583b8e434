// The condition at_work of the comparison in CEL, which all systems speak: in the hours of an office, by the second of
// the day, and in the user's own zone.

export const AT_WORK = 'second >= 32400 && second < 61200 && zone == home';
