// Package grantd is the client of grantd, a multi-tenant authorization service.
//
//	client, err := grantd.New(grantd.Config{URL: "https://grantd.example", Key: os.Getenv("GRANTD_KEY")})
//	…
//	allowed, err := client.Check(ctx, "user:ada", "viewer", "document:plan")
//
// A check never answers true unless the service has said so in an answer of exactly the promised shape. Every failure
// is an *Error, and no error means "not authorized": treat an error as a denial only where you fail closed.
//
// A Client is safe for concurrent use.
package grantd
