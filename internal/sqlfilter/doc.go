// Package sqlfilter reads and evaluates the filter language that RocketMQ calls SQL92: conditions over the properties of
// a message, such as
//
//	region = 'eu' AND (amount > 100 OR priority IN ('high', 'urgent')) AND note IS NOT NULL
//
// It does what a broker does, with all that surprises about it, because its purpose is to stand in for one.
//
// # Language
//
//	condition   OR, AND, NOT; from weak to strong: OR, AND, then = <> IS, then everything else, then NOT and signs
//	comparison  = <> > >= < <=, x [NOT] BETWEEN low AND high, property [NOT] IN ('a', 'b'), x IS [NOT] NULL,
//	            x [NOT] CONTAINS|STARTSWITH|ENDSWITH 'text' (since 5.1.3)
//	value       property, 'text' (a quote is written twice), 12, 12L, 1.5, .5, 5., 1e3, TRUE, FALSE, NULL, -x, +x
//	comments    -- to the end of the line (which must have one) and /* … */
//
// Keywords are read in any case. A property's name consists of ASCII letters, digits, _ and $; there is no way to name
// another one. There is no LIKE, no != and no arithmetic.
//
// # Values
//
// Every property is a text or missing (null). A text that meets a number becomes one, of the number's kind: an integer
// wants an integer, so that 5.0 is not equal to 5 but aborts the evaluation, and so does 3000000000, because 5 has 32
// bits. Two properties are equal as texts, and ordered as decimal numbers. A text that meets TRUE or FALSE is true if it
// reads true in any case, and false otherwise.
//
// Conditions are true, false or unknown. NULL makes comparisons unknown, with exceptions: the text operators are false
// then, negated or not; = is true between two missing properties, and false when only the right side is missing.
// What cannot be converted aborts the evaluation of the whole condition, which is then [Unknown]: a > 1 OR TRUE does not
// take a message whose a is no integer, but TRUE OR a > 1 does.
//
// # Traps
//
//   - NOT binds to what directly follows: NOT a = 1 means (NOT a) = 1, which is never true. Write NOT (a = 1).
//   - A property alone is a condition that is never true, not even when it reads true. Write a = TRUE.
//   - What follows a complete condition is not looked at: a LIKE 'x' means a, and a = 1 b = 2 means a = 1. [Filter.Ignored]
//     tells.
//   - 0.0 is refused, as being too small, but 0 is not.
//   - TRUE = a aborts when a is there. Write a = TRUE.
package sqlfilter
