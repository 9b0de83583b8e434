module github.com/grantd/grantd/clients/go

go 1.24
